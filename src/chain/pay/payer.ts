import type { Family } from '../../core/asset.ts'
import type { ReaderOptions } from '../options.ts'
import type { NetworkSettings } from '../port.ts'
import { createEvmPayer } from './evm-payer.ts'
import type { Payer } from './payment.ts'
import { createSolanaPayer } from './solana-payer.ts'

/** Pays on a network. @throws Fault `settings_bad` where the settings name no node */
export function createPayer(settings: NetworkSettings, options: ReaderOptions = {}): Payer {
  return payers[settings.family](settings, options)
}

const payers: Record<Family, typeof createPayer> = { evm: createEvmPayer, solana: createSolanaPayer }
