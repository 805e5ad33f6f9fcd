import { expect, test } from 'vitest'
import { keyProblem } from '../../src/config/canary.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { isFault } from '../../src/core/errors.ts'
import { environment } from '../support/settings-text.ts'

const evmKey = `0x${'1'.repeat(64)}`
const deposit = 'network: base, asset: USDC, amount: "0.01", owner: { kind: channel, id: canary }'
const files: Record<string, string> = { '/keys/base.key': evmKey, '/keys/odd.key': 'correct horse' }
const readKeyText = (path: string): string => {
  const found = files[path]
  if (found === undefined) throw new Error(`no such file: ${path}`)
  return found
}

function parse(text: string, changes: Record<string, string> = {}) {
  return parseSettings({ ...environment, DEPOSITD_CONFIG: '/keys/settings.yaml', ...changes }, (path) => {
    const found = path === '/keys/settings.yaml' ? text : files[path]
    if (found === undefined) throw new Error(`no such file: ${path}`)
    return found
  })
}

function faultsOf(text: string): string {
  try {
    parse(text)
    return ''
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    return error.details.faults.join('\n')
  }
}

test('nothing is sent and nothing is paid by default', () => {
  expect(parse('').canary).toEqual({ webhooks: null, deposits: [] })
  expect(parse('').contras).toEqual([])
})

test('a webhook is sent every minute, and waits for 10 s', () => {
  expect(parse('canary: { webhooks: { url: "https://pay.example/hooks" } }').canary.webhooks).toEqual({
    url: 'https://pay.example/hooks',
    everyMs: 60_000,
    timeoutMs: 10_000,
  })
})

test('a deposit is paid every six hours, by somebody else unless there is a key', () => {
  const [canary] = parse(`canary: { deposits: [{ ${deposit} }] }`).canary.deposits
  expect(canary).toEqual({
    network: 'base',
    symbol: 'USDC',
    amount: '0.01',
    owner: { kind: 'channel', id: 'canary' },
    everyMs: 21_600_000,
    withinMs: 7_200_000,
    keyPath: null,
    feeMax: '0.001',
  })
  const [paid] = parse(`canary: { deposits: [{ ${deposit}, keyFile: base.key }] }`).canary.deposits
  expect(paid?.keyPath).toBe('/keys/base.key')
})

test('the file of a key is not opened by who reads settings: it is for the worker alone', () => {
  const [paid] = parse(`canary: { deposits: [{ ${deposit}, keyFile: none.key }] }`).canary.deposits
  expect(paid?.keyPath).toBe('/keys/none.key')
})

test('a file that cannot be paid with is told, and nothing of what it holds', () => {
  expect(keyProblem('/keys/base.key', 'evm', readKeyText)).toBeNull()
  expect(keyProblem('/keys/odd.key', 'evm', readKeyText)).toEqual({
    kind: 'malformed',
    says: 'keyFile: is no private key: 64 hexadecimal digits',
  })
  expect(keyProblem('/keys/base.key', 'solana', readKeyText)).toMatchObject({ kind: 'malformed' })
  expect(keyProblem('/keys/none.key', 'evm', readKeyText)).toEqual({
    kind: 'unreadable',
    says: 'keyFile: cannot be read: no such file: /keys/none.key',
  })
})

test.each([
  ['http://pay.example/hooks', true],
  ['http://127.0.0.1.pay.example/hooks', true],
  ['https://pay.example/hooks', false],
  ['http://127.0.0.1:8080/hooks', false],
  ['http://[::1]:8080/hooks', false],
  ['http://localhost/hooks', false],
])('a scheme that sends its secret, to %s: %j', (url, isRefused) => {
  const text = (scheme: string) => `${scheme}\ncanary: { webhooks: { url: "${url}" } }`
  const shown = faultsOf(text('webhooks: { scheme: shared-secret, header: x-token }'))
  expect(shown.includes('the scheme shared-secret sends the secret itself')).toBe(isRefused)
  expect(faultsOf(text('webhooks: { scheme: standard-webhooks }'))).toBe('')
})

test('what is paid to the owner is booked beside what customers are owed, before any other rule', () => {
  const settings = parse(`
accounts: { contra: [{ account: income }] }
canary: { deposits: [{ ${deposit} }] }`)
  expect(settings.contras).toEqual([
    { pattern: { ownerKind: 'channel', ownerId: 'canary' }, account: 'equity:canary:{kind}:{id}' },
    { pattern: {}, account: 'income:deposits:{kind}:{id}' },
  ])
  expect(settings.accounts.known).toContain('equity:canary:*')
})

test.each([
  ['webhooks: {}', 'canary.webhooks.url'],
  ['webhooks: { url: "ftp://pay.example" }', 'is no address of the form http:// or https://'],
  ['webhooks: { url: "https://me:word@pay.example" }', 'holds a user or a password'],
  ['webhooks: { url: "https://pay.example", every: 1s }', 'is less than 5s'],
  ['webhooks: { url: "https://pay.example", timeout: 31s }', 'is not within 30s'],
  [`deposits: [{ ${deposit}, network: base2 }]`, 'Map keys must be unique'],
  [
    `deposits: [{ ${deposit.replace('base', 'moon')} }]`,
    'canary.deposits.0.network: moon is no network of these settings',
  ],
  [`deposits: [{ ${deposit.replace('base', 'solana')} }]`, 'solana is not read'],
  [`deposits: [{ ${deposit.replace('USDC', 'DOGE')} }]`, 'base has no assets called DOGE'],
  [`deposits: [{ ${deposit.replace('0.01', '0.000')} }]`, 'nothing would be paid'],
  [`deposits: [{ ${deposit.replace('"0.01"', '0.01')} }]`, 'canary.deposits.0.amount'],
  [`deposits: [{ ${deposit} }, { ${deposit} }]`, 'canary.deposits.1.network: base has a canary already'],
  [`deposits: [{ ${deposit}, feeMax: "0" }]`, 'canary.deposits.0.feeMax: nothing would be paid'],
  [`deposits: [{ ${deposit}, feeMax: "1.0000000000000000001" }]`, 'canary.deposits.0.feeMax'],
  [`deposits: [{ ${deposit}, key: 0x1 }]`, 'canary.deposits.0: Unrecognized key'],
])('%s is refused', (canary, fault) => {
  expect(faultsOf(`canary: { ${canary} }`)).toContain(fault)
})

test('more digits than the asset has are refused where its decimals are known', () => {
  const network =
    'networks: [{ name: base, family: evm, chainId: 8453, assets: [{ symbol: USDC, contract: "0x00000000000000000000000000000000000000fe", decimals: 6 }] }]'
  const tiny = deposit.replace('0.01', '0.0000001')
  expect(faultsOf(`${network}\ncanary: { deposits: [{ ${tiny} }] }`)).toContain(
    'canary.deposits.0.amount: 0.0000001 has more digits than the asset',
  )
})

test('a scheme by which only the sender can sign has no canary', () => {
  files['/keys/keys.pem'] = 'PEM'
  const scheme = 'webhooks: { scheme: public-key, header: x-sig, algorithm: ed25519, publicKeys: keys.pem }'
  const canary = 'canary: { webhooks: { url: "https://pay.example" } }'
  expect(faultsOf(`${scheme}\n${canary}`)).toContain('canary.webhooks: what the scheme public-key signs with')
})
