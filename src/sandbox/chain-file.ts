import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { hexToBytes } from 'viem'
import type { EvmClient } from './evm-client.ts'

export type ChainFile = {
  /** What anvil is started with to continue the saved chain. Empty for a fresh one. */
  loadOptions(): readonly string[]
  saveIfDue(client: EvmClient): Promise<void>
  save(client: EvmClient): Promise<void>
}

/** A saving takes time in proportion to the chain's length, so a long chain is saved less often. */
const pausePerSaving = 50
const pauseMinMs = 900

/**
 * Keeps a chain in a file. Anvil's own `--state` writes over its file in place, and a kill while it writes
 * leaves half of it; here a file is either the old one or the new one.
 */
export function chainFile(folder: string): ChainFile {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'chain.json.gz')
  let dueAt = 0
  const save = async (client: EvmClient): Promise<void> => {
    const startedAt = performance.now()
    const dump = await client.dumpState()
    writeFileSync(`${path}.new`, hexToBytes(dump))
    renameSync(`${path}.new`, path)
    const finishedAt = performance.now()
    dueAt = finishedAt + Math.max(pauseMinMs, (finishedAt - startedAt) * pausePerSaving)
  }
  return {
    loadOptions: () => (existsSync(path) ? ['--load-state', unpack(folder, path)] : []),
    save,
    saveIfDue: async (client) => {
      if (performance.now() >= dueAt) await save(client)
    },
  }
}

/** Anvil reads only the plain form. */
function unpack(folder: string, path: string): string {
  const plain = join(folder, 'chain.json')
  writeFileSync(plain, gunzipSync(readFileSync(path)))
  return plain
}
