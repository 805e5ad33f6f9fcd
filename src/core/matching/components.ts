/**
 * Joins items that share a key, directly or through others. The work grows with the number of keys, however large a
 * component gets.
 * @returns for each component the places of its items, in order of its first item, and all its keys.
 */
export function components(
  keysOfItems: readonly (readonly string[])[],
): { items: number[]; keys: Set<string> }[] {
  const firstOf = firstItems(keysOfItems)
  const found = new Map<number, { items: number[]; keys: Set<string> }>()
  for (const [place, keys] of keysOfItems.entries()) {
    const first = firstOf(place)
    const component = found.get(first) ?? { items: [], keys: new Set() }
    component.items.push(place)
    for (const key of keys) component.keys.add(key)
    found.set(first, component)
  }
  return [...found.values()]
}

/** Tells of each item the first one of its component. */
function firstItems(keysOfItems: readonly (readonly string[])[]): (place: number) => number {
  // Each item names an earlier one of its component; the first of all names itself.
  const earlier = Int32Array.from(keysOfItems, (_keys, place) => place)
  const firstOf = (place: number): number => {
    let first = place
    while (earlier[first] !== first) {
      earlier[first] = earlier[earlier[first] ?? 0] ?? 0
      first = earlier[first] ?? 0
    }
    return first
  }
  const itemOfKey = new Map<string, number>()
  for (const [place, keys] of keysOfItems.entries()) {
    for (const key of keys) {
      const [one, other] = [firstOf(itemOfKey.get(key) ?? place), firstOf(place)]
      itemOfKey.set(key, one)
      earlier[Math.max(one, other)] = Math.min(one, other)
    }
  }
  return firstOf
}
