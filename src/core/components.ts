/**
 * Joins items that share a key, directly or through others.
 * @returns for each component the places of its items, in order of its first item, and all its keys.
 */
export function components(
  keysOfItems: readonly (readonly string[])[],
): { items: number[]; keys: Set<string> }[] {
  const placeOfKey = new Map<string, Component>()
  for (const [place, keys] of keysOfItems.entries()) {
    const joined = new Set(keys.map((key) => placeOfKey.get(key)).filter((one) => one !== undefined))
    const component: Component = { items: [place], keys: new Set(keys) }
    for (const other of joined) {
      component.items.push(...other.items)
      for (const key of other.keys) component.keys.add(key)
    }
    for (const key of component.keys) placeOfKey.set(key, component)
  }
  const distinct = [...new Set(placeOfKey.values())]
  return distinct.map(({ items, keys }) => ({ items: items.toSorted((left, right) => left - right), keys }))
}

type Component = { items: number[]; keys: Set<string> }
