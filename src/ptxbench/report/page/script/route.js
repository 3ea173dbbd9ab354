// Addresses: everything that is shown has one, and it stands after the #, so that it works in a file.
//   #/                            all runs          #/run/RUN                       one of them
//   #/cell/CELL                   a cell            #/cell/CELL/TRAJECTORY/TURN     down to a turn
// followed by ?name=value&… for filters, order and what is open.

let route = { path: [], query: new URLSearchParams() };

function parsed(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?", 2);
  return { path: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query ?? "") };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}

/** Returns an address. Filters go along; `changes` sets names of the query, and takes out those that are null. */
function address(path, changes = {}) {
  const query = new URLSearchParams();
  for (const name of [...FILTERS, "k"]) if (route.query.has(name)) query.set(name, route.query.get(name));
  return spelt(path, query, changes);
}

/** Returns the present address with changes to its query. */
function changed(changes) {
  return spelt(route.path, new URLSearchParams(route.query), changes);
}

function spelt(path, query, changes) {
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

/** Goes to an address at once: a key that comes before the browser's own event finds the new place. */
function go(hash) {
  location.hash = hash;
  arrive();
}

/** Shows the present address from its top, unless it is shown already. */
function arrive() {
  if (location.hash === drawnHash) return;
  draw();
  window.scrollTo(0, 0);
}
let drawnHash = null;

/** Changes the query without a step in the browser's history: orders and filters are no places. */
function adjust(changes) {
  history.replaceState(null, "", changed(changes));
  draw({ keepFocus: true });
}
