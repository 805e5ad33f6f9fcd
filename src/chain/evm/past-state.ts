/** Messages of clients and providers that do not keep state of the requested age. */
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

/** True if the node has the block, but no longer its balances and code. */
export function isPastStateGone(problem: string): boolean {
  return gone.some((words) => words.test(problem))
}
