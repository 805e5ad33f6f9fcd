/** Every order of a few items. */
export function ordersOf<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((first, place) => ordersOf(items.toSpliced(place, 1)).map((rest) => [first, ...rest]))
}
