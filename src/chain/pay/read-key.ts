import { Fault } from '../../core/errors.ts'
import { parsePrivateKey } from '../../core/private-key.ts'
import type { NetworkSettings } from '../types.ts'

/** @throws Fault `settings_bad`, whose message contains nothing of the key */
export function readKey(
  text: string,
  { name, family }: Pick<NetworkSettings, 'name' | 'family'>,
): Uint8Array {
  const key = parsePrivateKey(family, text)
  if (key !== null) return key
  throw new Fault('settings_bad', { faults: [`the key that is paid with on ${name} is no private key`] })
}
