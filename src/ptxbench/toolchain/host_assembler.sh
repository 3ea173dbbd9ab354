# Runs what g++ runs for a host compilation (-wrapper), the assembler only when the device code is there: it takes that from a file
# (.incbin), which the device half, beside us, has written when a line comes through the pipe PTXBENCH_DEVICE_CODE.
case $1 in
  as | */as) read -r _ < "$PTXBENCH_DEVICE_CODE" || exit ;;
esac
exec "$@"
