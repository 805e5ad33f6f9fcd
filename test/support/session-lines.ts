/** A line for a shell; where it names what it waits for, it is run until its answer has that. */
export type Line = { shown: string; waitsFor?: string }

type Part = { says: string; lines: readonly Line[] }

const channel = (fields: object): string => JSON.stringify(fields)

const shop = channel({
  id: 'shop',
  forward_network: 'base',
  forward_asset: 'USDC',
  forward_recipient: '0x00000000000000000000000000000000000000ff',
})

const payroll = channel({
  id: 'payroll',
  forward_network: 'solana',
  forward_token: 'USDC',
  forward_address: 'GjJyeC1r2RgkuoCWMyPYkCWSGSGLcz266EaAkLA27AhL',
})

const post = (path: string, key: string, body: string): string =>
  [
    `curl -sS -H "X-API-KEY: $${key}" -H 'Content-Type: application/json' \\`,
    `    -d '${body}' \\`,
    `    $URL${path}`,
  ].join('\n')

/** The three calls of the interface, in both spellings and with both scopes, and a deposit from end to end. */
export const sessionParts: readonly Part[] = [
  {
    says: 'A channel, with a write key. USDC is to go to an address on Base:',
    lines: [
      { shown: 'export URL=http://127.0.0.1:18080' },
      { shown: 'export WRITE_KEY=$(cat .depositd/write-key) READ_KEY=$(cat .depositd/read-key)' },
      { shown: post('/v1/channels', 'WRITE_KEY', shop) },
    ],
  },
  {
    says: 'Another one in the other spelling; the answer has the same names:',
    lines: [{ shown: post('/v1/channels', 'WRITE_KEY', payroll) }],
  },
  {
    says: 'A StableWallet:',
    lines: [{ shown: post('/v1/stable-wallets', 'WRITE_KEY', '{"id":"savings"}') }],
  },
  {
    says: 'A read key reads, and creates nothing; without a key nothing is answered:',
    lines: [
      { shown: 'curl -sS -H "X-API-KEY: $READ_KEY" $URL/v1/proxies/deposits' },
      { shown: post('/v1/stable-wallets', 'READ_KEY', '{"id":"other"}') },
      { shown: 'curl -sS $URL/v1/proxies/deposits' },
    ],
  },
  {
    says: 'A customer pays 250 USDT on Ethereum to the address of `shop`; an address can be given as well:',
    lines: [{ shown: 'bin/depositd service pay --network mainnet --asset USDT --amount 250 --to shop' }],
  },
  {
    says: 'Some seconds later it has been converted, and has arrived on Base:',
    lines: [
      {
        shown: `curl -sS -H "X-API-KEY: $READ_KEY" "$URL/v1/proxies/deposits?owner=shop&limit=1"`,
        waitsFor: '"settled"',
      },
      {
        shown:
          'bin/depositd service balance --network base --asset USDC --address 0x00000000000000000000000000000000000000ff',
      },
    ],
  },
]
