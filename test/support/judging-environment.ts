import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeSecret } from './sign-webhook.ts'

/** All that a command needs beside a database to judge deposits anew; none of these servers is asked. */
export function judgingEnvironment(databaseUrl: string, more: Record<string, string> = {}) {
  return {
    DATABASE_URL: databaseUrl,
    SERVICE_URL: 'http://127.0.0.1:9',
    SERVICE_API_KEY: 'key',
    WEBHOOK_SECRETS: makeSecret(),
    RPC_BASE: 'http://127.0.0.1:9',
    RPC_ARBITRUM: 'http://127.0.0.1:9',
    ...more,
  }
}

/** Base and Arbitrum of the made-up world, for a settings file. */
export const madeUpNetworks = `
networks:
  - { name: base, family: evm, chainId: 8453, assets: [{ symbol: USDC, decimals: 6, contract: '0x00000000000000000000000000000000000000b1' }] }
  - { name: arbitrum, family: evm, chainId: 42161, assets: [{ symbol: USDC, decimals: 6, contract: '0x00000000000000000000000000000000000000a1' }] }
`

/** All that a command needs beside a database, with a settings file of this text. Only Base is read. */
export function settingsEnvironment(databaseUrl: string, folder: string, settings: string) {
  const path = join(folder, 'settings.yaml')
  writeFileSync(path, settings)
  return {
    DATABASE_URL: databaseUrl,
    SERVICE_URL: 'https://deposits.example',
    SERVICE_API_KEY: 'key',
    WEBHOOK_SECRETS: makeSecret(),
    RPC_BASE: 'https://node.example',
    LOG_LEVEL: 'silent',
    DEPOSITD_CONFIG: path,
  }
}
