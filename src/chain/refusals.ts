/**
 * `blocks`: too many. `results`: they hold too much, or take too long. `unexplained`: either, or a problem of the node.
 * `blocks` is the number offered, null if none.
 */
export type Limit = { kind: 'blocks' | 'results' | 'unexplained'; blocks: bigint | null }

export type RequestFailure = {
  problem: string
  /** JSON-RPC error code and HTTP status. */
  code: number | null
  status: number | null
  /** The server was not reached, or had asked for a pause. */
  isAway: boolean
}

/** Null for failures that are unrelated to the size: quota, authentication, the connection, a missing method. */
export function limitIn(failure: RequestFailure): Limit | null {
  const { problem, code, status, isAway } = failure
  if (isAway) return null
  const named = limitOf(problem)
  if (named !== null) return named
  if (code === methodNotFound || (status !== null && statusesOfOthers.has(status))) return null
  if (isQuota(status ?? 200, { code: code ?? 0, message: problem })) return null
  return denied.some((words) => words.test(problem)) ? null : { kind: 'unexplained', blocks: null }
}

/** Null if the message names none. */
export function limitOf(problem: string): Limit | null {
  for (const kind of ['results', 'blocks'] as const) {
    const found = tooMuch[kind].map((words) => words.exec(problem)).find((match) => match !== null)
    if (found !== undefined) return { kind, blocks: rangeIn(problem) ?? numberIn(found[1]) }
  }
  return null
}

/**
 * A limit of range or size takes precedence over quota words: otherwise "block range limit exceeded, upgrade to
 * increase your daily credits" would be retried endlessly.
 */
export function isQuota(status: number, error: { code: number; message: string } | null): boolean {
  if (error !== null && limitOf(error.message) !== null) return false
  if (status === 429 || error?.code === 429) return true
  return error !== null && quotaWords.some((words) => words.test(error.message))
}

const methodNotFound = -32_601

/** Authentication, payment, wrong address, too many requests, unavailable. */
const statusesOfOthers = new Set([401, 402, 403, 404, 405, 407, 429, 503])

/** A keyword alone, as in "upgrade your API key", does not match. */
const denied = [
  /unauthori[sz]ed|must be authenticated|authentication (?:failed|required)|access denied|payment required/i,
  /(?:invalid|missing|unknown|expired|incorrect|wrong) (?:\w+ )?(?:api[ _-]?key|token|project id|credentials)/i,
  /(?:api[ _-]?key|token|project id) (?:is |has |was )?(?:invalid|missing|expired|disabled|unknown|not found)/i,
]

/**
 * Error codes are of little use: -32005 means too many results for some, and -32016 on Solana a node that is behind.
 */
const quotaWords = [
  // The HTTP status text: Alchemy, QuickNode, Solana's public nodes, most gateways.
  /too many requests/i,
  // Infura ("project ID request rate exceeded", "daily request count exceeded, request rate limited")
  /request (?:rate|count) (?:limit )?exceeded/i,
  // Base's public node ("over rate limit"), Ankr ("call rate limit exhausted, retry in 10s"), 1RPC, Blast
  /\brate.?limit/i,
  // Alchemy ("exceeded its compute units per second capacity")
  /compute units per second/i,
  /(?:insufficient|out of|no more) (?:credits|compute units)/i,
  // QuickNode ("50/second request limit reached - reduce calls per second or upgrade")
  /\d+\/(?:second|minute) request limit/i,
  /(?:calls|requests) per (?:second|minute|day|month)/i,
  // Chainstack, GetBlock, dRPC, LlamaRPC and others
  /exceeded (?:its|the|your)[\w ]* (?:quota|throughput|capacity|rps)\b/i,
  /\bquota (?:is )?(?:exceeded|exhausted|reached)/i,
  /(?:daily|monthly) (?:request|credit|quota|limit)/i,
  /\bcredits? (?:limit )?(?:exceeded|exhausted)/i,
  /throttl/i,
]

/** Does not match counts per second or of requests: those are a quota. */
const count = String.raw`(\d[\d,._]*k?)(?![\d,._]*k?\s*(?:requests?|calls?|req\b|rps\b|credits?|compute|per\b|/))`

/** The test lists where each was published. A number is the allowed number of blocks. */
const tooMuch = {
  // Alchemy names both limits; the results were too many.
  results: [
    /log response size exceeded/i,
    /query returned more than [\d,]+k? results/i,
    /query exceeds max results/i,
    /logs matched by query exceeds limit/i,
    /(?:backend )?response (?:is )?too (?:large|big)/i,
    /response size (?:should|is|exceed)/i,
    /query timeout exceeded|query timed out|query duration/i,
    /answer exceeds \d+ bytes/i,
  ],
  blocks: [
    /up to an? COUNT block range/,
    /limited to (?:an? |0 - )?COUNT (?:blocks?|range)/,
    /at most COUNT blocks/,
    /requested blocks is COUNT/,
    /(?:bigger than range limit|exceeds limit of) COUNT/,
    /range allowed for your plan \(\d+ > COUNT\)/,
    /max(?:imum)?(?: allowed)?(?: block)? range(?: is|:| =)? COUNT/,
    /^(?=.*(?:block|range)).*max(?:imum)?(?: is)?(?: set to|:)? COUNT/,
    /blocks distance: COUNT/,
    /block range (?:greater than|exceeds) COUNT/,
    /ranges? over COUNT blocks/,
    /smaller than size COUNT/,
    /block range (?:is )?(?:too (?:wide|large|big|high)|limit exceeded|(?:bigger|larger) than)/i,
    /range is too (?:large|wide|big)/i,
    /exceeds? (?:the )?max(?:imum)? (?:allowed )?(?:block |rpc )?range/i,
    /requested too many blocks/i,
  ].map(({ source }) => new RegExp(source.replace('COUNT', count), 'i')),
}

/** `[0x1, 0x2]`, or `range 1-2`. */
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

const gone = [
  // go-ethereum and its forks, Nethermind
  /missing trie node/i,
  /MissingTrieNode/,
  /\bstate (?:0x[0-9a-f]+ )?is not available/i,
  /no state available/i,
  // go-ethereum tracing, Besu
  /(?:historical|world) state .*(?:un|not )available/i,
  // OpenEthereum, Erigon, reth
  /\bprun(?:ed|ing)\b/i,
  // public endpoints
  /\barchive\b/i,
  // anvil
  /BlockOutOfRangeError/,
]

export function isPastStateGone(problem: string): boolean {
  return gone.some((words) => words.test(problem))
}

/** Judges by the refusal to trace the first block. Null if it does not show this: the node may be asked again. */
export function offerIn(problem: string): boolean | null {
  if (isQuota(200, { code: 0, message: problem })) return null
  if (isPastStateGone(problem) || untraceable.some((words) => words.test(problem))) return true
  return lacking.some((words) => words.test(problem)) ? false : null
}

const untraceable = [
  // go-ethereum and Nethermind
  /genesis is not traceable/i,
  // Erigon
  /\bblock \S+ not found/i,
]

/** The method is not offered, or not in the customer's plan. */
const lacking = [
  /code -32601/,
  /method .*\bnot (?:found|available|supported|allowed|enabled|whitelisted)/i,
  /method .*(?:does not exist|disabled)/i,
  /\b(?:unsupported|unknown) method/i,
  /\bnot (?:available|supported) (?:on|for|in|with) /i,
  /\b(?:upgrade|plan|tier|add-?on)\b/i,
]
