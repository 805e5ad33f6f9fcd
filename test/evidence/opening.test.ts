import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { builtInAccounts } from '../../src/core/chart.ts'
import { readOpeningFile } from '../../src/jobs/books/open-books.ts'
import { readAssetNames } from '../../src/store/assets.ts'
import { readReceived } from '../../src/store/books/groups.ts'
import { at, claim, delivery, payment, webhook } from '../support/evidence.ts'
import { failedOf, forged, verifyDocument } from '../support/evidence-bundle.ts'
import { openEvidenceWorld } from '../support/evidence-world.ts'
import { people } from '../support/manual-journals.ts'
import { bookOpening } from '../support/unsigned.ts'

const proveNothing = () => Promise.resolve({ proofs: [], balances: [] })

test('a bundle of a deposit from before the opening says when the books begin, and is verified', async () => {
  await using world = await openEvidenceWorld()
  const { db } = world.books
  await world.see(payment())
  await world.books.settle()
  const deps = {
    db,
    accountPatterns: builtInAccounts(['base']),
    contras: [],
    ownFunds: null,
    assets: await readAssetNames(db),
    now: () => at(3000),
  }
  const csv = 'account,asset,balance\nassets:in_transit:base,base/USDC,100'
  const stated = await readOpeningFile(deps, csv)
  const received = await readReceived(db, deps.now())
  const opening = { at: at(1), received, stated, prove: proveNothing, toSuspense: false }
  await bookOpening({ ...deps, db: world.books.owner }, opening, { ...people, reason: 'the books begin' })
  await world.post(webhook())
  await world.list(claim())
  await world.see(delivery())
  await world.books.settle()
  const path = join(world.folder, 'bundle.json')
  expect(await world.run(`deposits evidence dep_1 --out ${path}`)).toMatchObject({ status: 0, err: '' })
  const text = readFileSync(path, 'utf8')
  expect(failedOf(await verifyDocument(world, text))).toEqual([])
  const other = forged(text, ({ parts }) => void (parts.openedAt = null))
  expect(failedOf(await verifyDocument(world, other))).toEqual(['verdict'])
})
