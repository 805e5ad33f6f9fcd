import type { Hex } from 'viem'
import { Fault } from '../../core/errors.ts'
import type { NetworkSettings } from '../port.ts'

type Network = Pick<NetworkSettings, 'name'>

/** 64 hexadecimal digits. @throws Fault `settings_bad`, which repeats nothing of the text */
export function readEvmKey(text: string, network: Network): Hex {
  const [, digits] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text.trim()) ?? []
  if (digits === undefined) throw strange(network)
  return `0x${digits}`
}

const bytesForm = /^\[(?:\s*\d{1,3}\s*,){63}\s*\d{1,3}\s*\]$/

/** A list of 64 bytes, private and public half. @throws Fault `settings_bad`, which repeats nothing of the text */
export function readSolanaKey(text: string, network: Network): Uint8Array {
  const bytes = bytesForm.test(text.trim()) ? (JSON.parse(text) as number[]) : []
  if (bytes.length === 0 || bytes.some((byte) => byte > 255)) throw strange(network)
  return Uint8Array.from(bytes)
}

function strange({ name }: Network): Fault<'settings_bad'> {
  return new Fault('settings_bad', { faults: [`the key that is paid with on ${name} is no private key`] })
}
