/**
 * How providers say that they are asked too often. Codes are of little use: -32005 elsewhere means too many results,
 * -32016 on Solana a node that is behind.
 */
const quotaWords = [
  // The status that providers repeat in the body: Alchemy, QuickNode, Solana's public nodes, most gateways.
  /too many requests/i,
  // Infura ("project ID request rate exceeded", "daily request count exceeded, request rate limited")
  /request (?:rate|count) (?:limit )?exceeded/i,
  // Base's public node ("over rate limit"), Ankr ("call rate limit exhausted, retry in 10s"), 1RPC, Blast
  /\brate.?limit/i,
  // Alchemy ("exceeded its compute units per second capacity")
  /compute units per second/i,
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

/** True where an answer asks to be asked less often. A range or a size that is refused does not. */
export function isQuota(status: number, error: { code: number; message: string } | null): boolean {
  if (status === 429 || error?.code === 429) return true
  return error !== null && quotaWords.some((words) => words.test(error.message))
}
