# Runs ptxas for nvcc (--ptxas-prefix) after taking this machine's folders out of the PTX's file table, which ptxas copies into
# the cubin: equal sources then give equal bytes wherever they are built, and no path of the machine leaves it. A mutated build's
# PTX is rewritten as well (see mutation.py).
for argument; do
  case $argument in
    *.ptx)
      sed -i -e "/^[[:space:]]*\.file[[:space:]]/{$PTXBENCH_RELOCATE}" "$argument"
      [ -z "$PTXBENCH_MUTATION" ] || "$PTXBENCH_PYTHON" -I -S "$PTXBENCH_MUTATION" "$argument" || exit
      ;;
  esac
done
exec "$@"
