// Owns: drawing a part of the page anew without touching what is there already. Must not know: what is drawn.

/**
 * Makes `nodes` what is in `root`. What is alike and in the same order stays, and is filled anew in the same way: a
 * press is lost when what it began on is gone before it ends, and other people's doings come at any time.
 *
 * An element that stays keeps its listeners, so these must depend on nothing but what is seen of it. And one that
 * its maker goes on changing must be the same each time.
 * @param {Element} root
 * @param {readonly (Node | string)[]} nodes
 */
export function renew(root, nodes) {
  /** @type {ChildNode | null} */
  let at = root.firstChild;
  for (const its of nodes) {
    const node = typeof its === 'string' ? document.createTextNode(its) : its;
    const there = standIn(at, node);
    if (!there) {
      root.insertBefore(node, at);
      continue;
    }
    removeUpTo(at, there);
    if (there !== node) fill(there, node);
    at = there.nextSibling;
  }
  removeUpTo(at, null);
}

/** What may stand for `node`, of `at` and what comes after it. @param {ChildNode | null} at @param {Node} node */
function standIn(at, node) {
  let there = at;
  while (there && !alike(there, node)) there = there.nextSibling;
  return there;
}

/** Whether two are so but for what is in them. @param {Node} one @param {Node} other */
function alike(one, other) {
  if (one === other) return true;
  return one instanceof Text ? other instanceof Text : bare(one).isEqualNode(bare(other));
}

/** Without what is in it; whether it is unfolded is the reader's business. @param {Node} node */
function bare(node) {
  const its = node.cloneNode(false);
  if (its instanceof HTMLDetailsElement) its.open = false;
  return its;
}

/** @param {Node} there @param {Node} node */
function fill(there, node) {
  if (there instanceof Element) renew(there, [...node.childNodes]);
  else if (there.nodeValue !== node.nodeValue) there.nodeValue = node.nodeValue;
}

/** @param {ChildNode | null} at @param {ChildNode | null} end not removed */
function removeUpTo(at, end) {
  while (at && at !== end) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}
