import { mkdirSync } from 'node:fs'
import { readFrom } from '../config/environment.ts'
import { readLogLevel } from '../config/environment-settings.ts'
import { readSigningKey, readVerifierKey, verifierKeyText } from '../ledger/checkpoint.ts'
import { createLog } from '../log/create-log.ts'
import { serveWitness } from '../witness/witness.ts'
import type { Context } from './context.ts'
import { readTextFile } from './files.ts'
import { wrongUse } from './options.ts'
import { print } from './print.ts'
import { untilSignal } from './process.ts'

type WitnessOptions = { log: string; keyFile: string; folder: string; host: string; port: number }

/** Returns after the witness was stopped. */
export async function witnessCommand(context: Context, options: WitnessOptions): Promise<void> {
  const logs = options.log.split(',').map((text) => {
    const key = readVerifierKey(text)
    if (key?.kind !== 'log')
      throw wrongUse('--log is no key of a log', 'give what "bin/depositd ledger key show" prints')
    return key
  })
  const signer = readSigningKey(readTextFile('--key-file', options.keyFile).trim())
  if (signer?.kind !== 'witness')
    throw wrongUse(
      '--key-file holds no key of a witness',
      'make one with "bin/depositd ledger key create NAME --witness"',
    )
  mkdirSync(options.folder, { recursive: true })
  const { folder, host, port } = options
  const log = createLog({ level: readFrom(context.environment, readLogLevel) })
  const signalled = untilSignal()
  const server = await serveWitness({ logs, signer, folder, host, port, log, now: () => new Date() })
  const key = verifierKeyText(signer)
  print(context, { url: server.url, key }, `witness: ${server.url}\nkey: ${key}\n`)
  await signalled
  await server.stop()
}
