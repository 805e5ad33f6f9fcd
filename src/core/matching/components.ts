/**
 * Items of a component share a key, directly or through others. The work grows with the number of keys.
 * @param keysOf is called once for each item
 * @returns each in the order of its items; components in the order of their first items
 */
export function components<Item, Key>(
  items: readonly Item[],
  keysOf: (item: Item) => Iterable<Key>,
): Item[][] {
  const earlier = joined(items, keysOf)
  const found: Item[][] = []
  const numberOf = new Int32Array(items.length)
  for (const [place, item] of items.entries()) {
    const first = firstOf(place, earlier)
    if (first === place) numberOf[place] = found.push([item]) - 1
    else found[numberOf[first] ?? 0]?.push(item)
  }
  return found
}

/** Each item points to an earlier one of its component; the first points to itself. */
function joined<Item, Key>(items: readonly Item[], keysOf: (item: Item) => Iterable<Key>): Int32Array {
  const earlier = new Int32Array(items.length)
  const itemOfKey = new Map<Key, number>()
  for (const [place, item] of items.entries()) {
    earlier[place] = place
    for (const key of keysOf(item)) {
      const holder = itemOfKey.get(key)
      if (holder === undefined) itemOfKey.set(key, place)
      else join(holder, place, earlier)
    }
  }
  return earlier
}

function join(left: number, right: number, earlier: Int32Array): void {
  const [one, other] = [firstOf(left, earlier), firstOf(right, earlier)]
  earlier[Math.max(one, other)] = Math.min(one, other)
}

function firstOf(place: number, earlier: Int32Array): number {
  let first = place
  while (earlier[first] !== first) {
    earlier[first] = earlier[earlier[first] ?? 0] ?? 0
    first = earlier[first] ?? 0
  }
  return first
}
