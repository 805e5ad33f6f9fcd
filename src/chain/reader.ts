import type { Family } from '../core/asset.ts'
import { createEvmReader } from './evm/reader.ts'
import type { ReaderOptions } from './options.ts'
import { createSolanaReader } from './solana/reader.ts'
import type { FullChainReader, NetworkSettings } from './types.ts'

/** @throws Fault `settings_bad` if the settings are not sufficient for reading */
export function createReader(settings: NetworkSettings, options: ReaderOptions = {}): FullChainReader {
  return readers[settings.family](settings, options)
}

const readers: Record<Family, typeof createReader> = { evm: createEvmReader, solana: createSolanaReader }
