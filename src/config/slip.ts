/**
 * Whether a word is another with one slip of the hand: a letter that is another, is missing, is there twice, or has
 * changed places with the next. A letter more that is none of these makes another word: HTTPS_PORT is not HTTP_PORT.
 */
export function isSlipOf(word: string, meant: string): boolean {
  const place = firstDifference(word, meant)
  const [rest, restMeant] = [word.slice(place), meant.slice(place)]
  if (word.length === meant.length) return rest.slice(1) === restMeant.slice(1) || isSwapped(rest, restMeant)
  if (word.length === meant.length - 1) return rest === restMeant.slice(1)
  const isTwice = rest[0] === word[place - 1]
  return word.length === meant.length + 1 && isTwice && rest.slice(1) === restMeant
}

function isSwapped(rest: string, restMeant: string): boolean {
  return rest[0] === restMeant[1] && rest[1] === restMeant[0] && rest.slice(2) === restMeant.slice(2)
}

function firstDifference(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  let place = 0
  while (place < length && one[place] === other[place]) place++
  return place
}
