import { type ScriptedChainSettings, scriptedChain } from '../../test/support/scripted-evm-chain.ts'
import { type Behaviour, startScriptedEvmNode } from '../../test/support/scripted-evm-node.ts'

/** The node of B6 in a process of its own; its parent is told the address, and ends it by closing the channel. */

export type Counts = { answered: number; refused: number; calls: Record<string, number> }

const settings = JSON.parse(process.argv[2] ?? '{}') as ScriptedChainSettings
process.once('disconnect', () => process.exit(0))
const node = await startScriptedEvmNode(scriptedChain(settings))

/** Behaves from now on as it is told, and tells what it was asked since it was told before. */
process.on('message', (changes: Partial<Behaviour>) => {
  const counts: Counts = { ...node.requests, calls: Object.fromEntries(node.asked) }
  Object.assign(node.behaviour, changes)
  node.asked.clear()
  Object.assign(node.requests, { answered: 0, refused: 0 })
  process.send?.(counts)
})
process.send?.({ url: node.url })
