/**
 * Joins items that share a key, directly or through others. The work grows with the number of keys, however large a
 * component gets.
 * @returns for each component the places of its items, in order of its first item.
 */
export function components<Key>(keysOfItems: readonly Iterable<Key>[]): number[][] {
  const earlier = joined(keysOfItems)
  const found: number[][] = []
  const numberOf = new Int32Array(earlier.length)
  for (const place of earlier.keys()) {
    const first = firstOf(place, earlier)
    if (first === place) numberOf[place] = found.push([place]) - 1
    else found[numberOf[first] ?? 0]?.push(place)
  }
  return found
}

/** Each item names an earlier one of its component; the first of all names itself. */
function joined<Key>(keysOfItems: readonly Iterable<Key>[]): Int32Array {
  const earlier = new Int32Array(keysOfItems.length)
  const itemOfKey = new Map<Key, number>()
  for (const [place, keys] of keysOfItems.entries()) {
    earlier[place] = place
    for (const key of keys) {
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
