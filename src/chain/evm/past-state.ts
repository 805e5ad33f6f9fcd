/** How clients and providers say that they keep no state as old as was asked for. */
const gone = [
  // go-ethereum and those made of it, Nethermind
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

/** True where a node that has the block does not have the balances and the code that were there. */
export function isPastStateGone(problem: string): boolean {
  return gone.some((words) => words.test(problem))
}
