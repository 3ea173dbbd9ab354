// expect: paper=ok strict=ok
// Old spellings with nothing behind them.
%:define TWO 2
extern "C" __attribute__((visibility("default"))) int run(int x) <%
    int a<:4:> = <% 1, TWO, 3, x %>;
    ret\
urn a<:TWO:>;
%>
