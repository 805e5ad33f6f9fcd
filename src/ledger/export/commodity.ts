import { createHash } from 'node:crypto'

/**
 * The name of an asset in hledger and Beancount: its symbol, its network, and seven digits of the SHA-256 of its key,
 * as in `USDC.BASE.1A2B3C4`. It depends on the asset alone, so that another token with the same symbol changes no name
 * that was exported before. Beancount allows 24 characters: capital letters, digits and dots, beginning with a letter.
 */
export function commodityOf({ key, symbol }: { key: string; symbol: string }): string {
  const network = key.slice(0, key.indexOf('/'))
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 7).toUpperCase()
  const label = capitals(symbol)
  const first = (/^[A-Z]/.test(label) ? label : `X${label}`).slice(0, 8)
  const second = capitals(network).slice(0, 15 - first.length)
  return [first, second, digest].filter((part) => part !== '').join('.')
}

function capitals(text: string): string {
  return text
    .normalize('NFKD')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
}
