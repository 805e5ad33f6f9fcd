import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Observation, ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { type Books, openBooks } from './books.ts'
import { runCommand } from './command.ts'
import {
  claim,
  delivery,
  payment,
  txId,
  usdcOnArbitrum,
  usdcOnBase,
  usdtOnBase,
  webhook,
} from './evidence.ts'
import { temporaryFolder } from './folder.ts'
import { settingsEnvironment } from './judging-environment.ts'

/** Books of the made-up world, with a settings file for it, and commands that are run there. */
export async function policyWorld() {
  const books: Books = await openBooks()
  const folder = await temporaryFolder()
  const write = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const environment = settingsEnvironment(books.url, folder, settingsText)
  return {
    books,
    environment,
    /** Writes a file and gives its path. */
    write,
    depositd: (line: string) => runCommand(line, environment),
    async receive(...all: Observation[][]) {
      await books.receive(...all.flat())
      await books.settle()
    },
    [Symbol.asyncDispose]: () => books[Symbol.asyncDispose](),
  }
}

export const settingsText = `
networks:
  - name: base
    family: evm
    chainId: 8453
    assets:
      - { symbol: USDC, decimals: 6, contract: '${usdcOnBase.slice(5)}' }
      - { symbol: USDT, decimals: 6, contract: '${usdtOnBase.slice(5)}' }
  - { name: arbitrum, family: evm, chainId: 42161, assets: [{ symbol: USDC, decimals: 6, contract: '${usdcOnArbitrum.slice(9)}' }] }
`

/** A deposit of 100, of which so much is stated to be delivered, and so much less is. */
export function settled(name: string, stated: bigint, { lack = 0n, asset = usdcOnBase } = {}): Observation[] {
  const fee = (stated < 100_000_000n ? 100_000_000n - stated : 0n) as Amount
  const reported = {
    serviceId: name as ServiceId,
    deposit: { tx: txId(`pay ${name}`), asset },
    settlement: { tx: txId(`out ${name}`), amount: stated as Amount, fee },
  }
  return [
    webhook(reported),
    claim(reported),
    payment({ tx: txId(`pay ${name}`), asset }),
    delivery({ tx: txId(`out ${name}`), amount: (stated - lack) as Amount }),
  ]
}
