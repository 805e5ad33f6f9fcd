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

/** Too many blocks, too many results or too large an answer, in the words of public providers and clients. */
const tooMuch = [
  // Alchemy, Infura, zkSync
  /log response size exceeded/i,
  /eth_getLogs requests with up to an? /i,
  /query returned more than \d+ results/i,
  // QuickNode, 1RPC, Ankr, dRPC, Chainstack, Blast
  /limited to (?:a |0 - )?[\d,.]+k?(?: blocks?)? range/i,
  /block range (?:is )?(?:too (?:wide|large|big)|limit exceeded)/i,
  /ranges? over \d+ blocks/i,
  /range is too (?:large|wide|big)/i,
  // BSC, Polygon, PublicNode, Cloudflare, Moralis
  /exceeds? (?:the )?max(?:imum)? (?:allowed )?(?:block )?range/i,
  /max(?:imum)?(?: block)? range/i,
  /block range greater than/i,
  // reth, Erigon, Avalanche, Celo, Besu
  /query exceeds max (?:block range|results)/i,
  /requested too many blocks/i,
  /logs matched by query exceeds limit/i,
  /exceeds maximum rpc range/i,
  // size and time: op-proxyd, jsonrpsee, geth, and our own bound
  /(?:backend )?response (?:is )?too (?:large|big)/i,
  /response size (?:should|is|exceed)/i,
  /query timeout exceeded/i,
  /answer exceeds \d+ bytes/i,
]

/** True where a node refused a log query for its range or its size, so that halves of it may pass. */
export function isRangeLimit(problem: string): boolean {
  return !quota.some((words) => words.test(problem)) && tooMuch.some((words) => words.test(problem))
}
