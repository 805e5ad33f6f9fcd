import { createHash } from 'node:crypto'
import { privateKeyToAddress } from 'viem/accounts'
import { sandboxSigner } from './sandbox-signer.ts'

export type DemoChannel = {
  id: string
  forwardNetwork: string
  forwardAsset: string
  forwardRecipient: string
}

/** The channels and the StableWallet of the demonstration. One channel forwards to Base, one to Solana. */
export async function demoOwners(): Promise<{ channels: readonly DemoChannel[]; wallet: string }> {
  const solanaRecipient = await sandboxSigner('recipient of the demonstration')
  return {
    channels: [
      { id: 'shop', forwardNetwork: 'base', forwardAsset: 'USDC', forwardRecipient: evmRecipient() },
      {
        id: 'payroll',
        forwardNetwork: 'solana',
        forwardAsset: 'USDC',
        forwardRecipient: solanaRecipient.address,
      },
    ],
    wallet: 'savings',
  }
}

function evmRecipient(): string {
  return privateKeyToAddress(
    `0x${createHash('sha256').update('recipient of the demonstration').digest('hex')}`,
  )
}
