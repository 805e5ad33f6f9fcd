import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { type Books, openBooks } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { claim, delivery, payment, txId, usdcOnArbitrum, webhook } from '../support/evidence.ts'
import { temporaryFolder } from '../support/folder.ts'
import { judgingEnvironment } from '../support/judging-environment.ts'
import { addPeople, runDecided, signingKeys } from '../support/people.ts'

let books: Books

const second = {
  serviceId: 'dep_2' as ServiceId,
  deposit: { tx: txId('pay2') },
  settlement: { tx: txId('forward2') },
}

/** 1 is reconciled. 2 fell short, which was resolved, and then by something else. */
beforeAll(async () => {
  books = await openBooks()
  await books.receive(webhook(), claim(), payment(), delivery())
  await books.receive(webhook(second), claim(second), payment({ tx: txId('pay2') }))
  await books.receive(delivery({ tx: txId('forward2'), amount: 99_000_000n as Amount }))
  await books.settle()
  await addPeople(books.owner)
  await runDecided('mismatches resolve 1 --reason agreed', judgingEnvironment(books.url))
  await books.receive(delivery({ tx: txId('forward2'), index: '1', amount: 300_000n as Amount }))
  await books.settle()
})
afterAll(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runCommand(line, { ...judgingEnvironment(books.url), ...signingKeys.erin })

async function document(line: string): Promise<Record<string, unknown>> {
  const { out } = await depositd(`${line} --json`)
  return JSON.parse(out) as Record<string, unknown>
}

const decimal = /^-?\d+(?:\.\d+)?$/
const amounts = /^(?:amount|settlement_amount|loss|fee|lack|paid|delivered|debit|credit|balance|total)$/

/** Amounts that are not told in units and in smallest units with a symbol beside them. */
function faultsIn(value: unknown, place = '$'): string[] {
  if (typeof value !== 'object' || value === null) return textFaults(value, place)
  if (Array.isArray(value)) return value.flatMap((one, index) => faultsIn(one, `${place}[${index}]`))
  const fields = value as Record<string, unknown>
  return Object.entries(fields).flatMap(([name, one]) => {
    const path = `${place}.${name}`
    if (name === 'detail') return []
    if (name.endsWith('_base')) return baseFaults(fields, name.slice(0, -5), path)
    const isBare = amounts.test(name) && decimal.test(String(one)) && !(`${name}_base` in fields)
    return isBare ? [`${path} is without smallest units`] : faultsIn(one, path)
  })
}

function baseFaults(fields: Record<string, unknown>, name: string, path: string): string[] {
  if (fields[`${name}_base`] === null) return []
  const symbols = [name, name.replace(/_amount$/, ''), 'settlement'].map((one) => `${one}_asset_symbol`)
  const hasSymbol = [...symbols, 'asset_symbol'].some((one) => typeof fields[one] === 'string')
  return [
    ...(decimal.test(String(fields[name])) ? [] : [`${path} is without units`]),
    ...(hasSymbol ? [] : [`${path} is without a symbol`]),
  ]
}

function textFaults(value: unknown, place: string): string[] {
  const isBase = /(?<![\w.,:/-])\d{6,}(?![\w/])|base units/.test(String(value))
  return isBase ? [`${place} is ${String(value)}`] : []
}

test.each([
  'deposits list',
  'deposits show 1',
  'deposits show 2',
  'deposits show 2 --as-of 2099-01-01',
  'mismatches list --all',
  'mismatches show 1',
  'scorecard --since 2026-01-01',
  'ledger balances',
  'ledger trial-balance',
  'ledger statement shop',
  'ledger journal show 1',
])('%s --json has every amount in units and in smallest units, with a symbol', async (line) => {
  const found = await document(line)
  expect(JSON.stringify(found)).toContain('_base"')
  expect(faultsIn(found)).toEqual([])
})

test('reconcile --json has the amounts of journals in units, too', async () => {
  const path = join(await temporaryFolder(), 'new.yaml')
  writeFileSync(path, 'policy: { tolerance: { bps: 9000 } }\n')
  const { out } = await depositd(`reconcile --policy ${path} --dry-run --json`)
  expect(out).toContain('"amount_base"')
  expect(faultsIn(JSON.parse(out))).toEqual([])
})

test('why a deposit is judged so names amounts in units, and beside them in smallest units', async () => {
  const { explanation } = (await document('deposits show 2')) as {
    explanation: { reasons: { what: string; says: string; policy: string; amounts: object[] }[] }
  }
  const reason = explanation.reasons.find(({ what }) => what === 'mismatch settlement_short')
  expect(reason).toMatchObject({
    says: expect.stringContaining('stated 99.9 USDC on arbitrum'),
    policy: 'policy.tolerance: 0 USDC on arbitrum, or 0 bps',
  })
  expect(reason?.amounts).toContainEqual({
    amount: '99.900000',
    amount_base: '99900000',
    asset_symbol: 'USDC',
    asset: usdcOnArbitrum,
  })
})

test('a mismatch says what is wrong, by which amounts, and to which cause it belongs', async () => {
  const { items } = (await document('mismatches list --all')) as { items: object[] }
  const { mismatch, history } = await document('mismatches show 1')
  const reported = {
    kind: 'settlement_short',
    says: expect.stringContaining('Short by '),
    amounts: { stated: { amount: '99.900000', amount_base: '99900000', asset_symbol: 'USDC' } },
    cause: { kind: 'settlement_short', service: 'default', network: 'base', side: 'service' },
  }
  expect(items).toContainEqual(expect.objectContaining({ id: '1', cause: reported.cause }))
  expect(mismatch).toMatchObject(reported)
  expect(history).toContainEqual(
    expect.objectContaining({
      action: 'reopened',
      before: expect.objectContaining({ loss: '0.900000', loss_base: '900000', loss_asset_symbol: 'USDC' }),
    }),
  )
})
