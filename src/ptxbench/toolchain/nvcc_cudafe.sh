# Runs cudafe++ for nvcc (--cudafe-prefix) with a module id of our choice. The id becomes part of every name in an unnamed
# namespace; cudafe++ would make it from the folder's path, so that equal
# sources would give different binaries. A file that is there already has been read by cicc, perhaps, which runs beside us.
file=
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  count=$((count - 1))
  [ "$file" = next ] && file=$argument
  case $argument in
    --gen_module_id_file) continue ;;
    --module_id_file_name) file=next ;;
  esac
  set -- "$@" "$argument"
done
[ -n "$file" ] && [ ! -s "$file" ] && printf %s "$PTXBENCH_MODULE_ID" > "$file"
exec "$@"
