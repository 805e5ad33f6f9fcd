/**
 * Why a node refused a log query. `blocks`: too many blocks. `results`: what lies in them is too much, or takes too
 * long. With how many blocks the node would take, where it says so.
 */
export type Limit = { kind: 'blocks' | 'results'; blocks: bigint | null }

/** What a node said of a log query that it refused for its range or its size; null for every other refusal. */
export function limitOf(problem: string): Limit | null {
  if (quota.some((words) => words.test(problem))) return null
  for (const { kind, words } of tooMuch) {
    const found = words.exec(problem)
    if (found !== null) return { kind, blocks: rangeIn(problem) ?? numberIn(found[1]) }
  }
  return null
}

/** True where halves of the query may pass. */
export function isRangeLimit(problem: string): boolean {
  return limitOf(problem) !== null
}

/** Slow down: never an invitation to split, which would only ask more. Checked first. */
const quota = [
  /\b429\b/,
  /too many requests/i,
  /rate.?limit/i,
  /requests? (?:limit|count|per)/i,
  /per second/i,
  /compute units/i,
  /credits/i,
  /quota/i,
  /capacity/i,
  /throttl/i,
  /daily/i,
]

const count = String.raw`(\d[\d,._]*k?)`

/**
 * In the words of public providers and clients; each is in the test with where it was published. A number in them is
 * how many blocks may be asked for.
 */
const tooMuch: readonly { kind: Limit['kind']; words: RegExp }[] = [
  // Alchemy names both limits in one text; it is the results that were too many.
  { kind: 'results', words: /log response size exceeded/i },
  { kind: 'results', words: /query returned more than [\d,]+k? results/i },
  { kind: 'results', words: /query exceeds max results/i },
  { kind: 'results', words: /logs matched by query exceeds limit/i },
  { kind: 'results', words: /(?:backend )?response (?:is )?too (?:large|big)/i },
  { kind: 'results', words: /response size (?:should|is|exceed)/i },
  { kind: 'results', words: /query timeout exceeded|query timed out|query duration/i },
  { kind: 'results', words: /answer exceeds \d+ bytes/i },
  { kind: 'blocks', words: new RegExp(String.raw`up to an? ${count} block range`, 'i') },
  { kind: 'blocks', words: new RegExp(String.raw`limited to (?:an? |0 - )?${count} (?:blocks?|range)`, 'i') },
  { kind: 'blocks', words: new RegExp(String.raw`at most ${count} blocks`, 'i') },
  { kind: 'blocks', words: new RegExp(String.raw`requested blocks is ${count}`, 'i') },
  {
    kind: 'blocks',
    words: new RegExp(String.raw`(?:bigger than range limit|exceeds limit of) ${count}`, 'i'),
  },
  { kind: 'blocks', words: new RegExp(String.raw`range allowed for your plan \(\d+ > ${count}\)`, 'i') },
  {
    kind: 'blocks',
    words: new RegExp(String.raw`max(?:imum)?(?: allowed)?(?: block)? range(?: is|:| =)? ${count}`, 'i'),
  },
  {
    kind: 'blocks',
    words: new RegExp(String.raw`^(?=.*(?:block|range)).*max(?:imum)?(?: is)?(?: set to|:)? ${count}`, 'i'),
  },
  { kind: 'blocks', words: new RegExp(String.raw`blocks distance: ${count}`, 'i') },
  { kind: 'blocks', words: new RegExp(String.raw`block range (?:greater than|exceeds) ${count}`, 'i') },
  { kind: 'blocks', words: new RegExp(String.raw`ranges? over ${count} blocks`, 'i') },
  { kind: 'blocks', words: new RegExp(String.raw`smaller than size ${count}`, 'i') },
  {
    kind: 'blocks',
    words: /block range (?:is )?(?:too (?:wide|large|big|high)|limit exceeded|(?:bigger|larger) than)/i,
  },
  { kind: 'blocks', words: /range is too (?:large|wide|big)/i },
  { kind: 'blocks', words: /exceeds? (?:the )?max(?:imum)? (?:allowed )?(?:block |rpc )?range/i },
  { kind: 'blocks', words: /requested too many blocks/i },
]

/** A range that should work, as some offer it: `[0x1, 0x2]`, or `range 1-2`. */
function rangeIn(problem: string): bigint | null {
  const [, from, to] =
    /range(?: should work:)? \[(0x[0-9a-f]+), ?(0x[0-9a-f]+)\]/i.exec(problem) ??
    /with the range (\d+)-(\d+)/i.exec(problem) ??
    []
  if (from === undefined || to === undefined) return null
  const blocks = BigInt(to) - BigInt(from) + 1n
  return blocks > 0n ? blocks : null
}

function numberIn(text: string | undefined): bigint | null {
  const [, digits, thousands] = /^([\d,._]+?)[,._]*(k?)$/i.exec(text ?? '') ?? []
  if (digits === undefined) return null
  const number = BigInt(digits.replace(/[,._]/g, '')) * (thousands === '' ? 1n : 1000n)
  return number > 0n ? number : null
}
