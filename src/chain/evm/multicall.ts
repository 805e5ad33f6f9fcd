import { decodeFunctionResult, encodeFunctionData, type Hex, numberToHex, parseAbi } from 'viem'
import { askTogether, type EvmNode, refusal } from './node.ts'

/** One call of a contract that changes nothing. */
export type ViewCall = { to: Hex; data: Hex }

/** Multicall3, which lies at one address on over 250 chains (github.com/mds1/multicall3). */
const multicall: Hex = '0xca11bde05977b3631167028862be2a173976ca11'

const multicallAbi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
  'function getEthBalance(address addr) view returns (uint256 balance)',
])

/** The call that answers with the native coin of an address. */
export function coinBalanceCall(address: Hex): ViewCall {
  return {
    to: multicall,
    data: encodeFunctionData({ abi: multicallAbi, functionName: 'getEthBalance', args: [address] }),
  }
}

/**
 * Runs many calls at one height in one request.
 * @returns what each answered, null for one that was reverted; null where the contract was not there at that height
 * @throws Fault `remote_failed`
 */
export async function callMany(
  node: EvmNode,
  calls: readonly ViewCall[],
  height: bigint,
): Promise<(Hex | null)[] | null> {
  const what = `${calls.length} calls at block ${height}`
  const args = calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }))
  const data = encodeFunctionData({ abi: multicallAbi, functionName: 'aggregate3', args: [args] })
  const answer = await callAt(node, { to: multicall, data }, height)
  if (answer === '0x') return null
  const results = decodeResults(answer)
  if (results?.length !== calls.length) throw refusal(node, what, 'it answered another number of them')
  return results.map(({ success, returnData }) => (success ? returnData : null))
}

/** Runs one call, with others made at once in one request. `0x` is what an address without code answers. */
export function callAt(node: EvmNode, call: ViewCall, height: bigint): Promise<Hex> {
  return askTogether(node, `call of ${call.to} at block ${height}`, (client) =>
    client.request({ method: 'eth_call', params: [call, numberToHex(height)] }),
  )
}

/** Null for bytes that are not the list the contract answers with. */
function decodeResults(data: Hex): readonly { success: boolean; returnData: Hex }[] | null {
  try {
    return decodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', data })
  } catch {
    return null
  }
}
