import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceId } from '../../../src/core/evidence.ts'
import { readText } from '../../docs/pages.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { type DoctorWorld, openDoctorWorld, settingsText } from '../../support/doctor-world.ts'
import { claim, payment, txId } from '../../support/evidence.ts'

const stack = new AsyncDisposableStack()
let books: Books
let world: DoctorWorld
let keyFile: string

beforeAll(async () => {
  books = stack.use(await openBooks())
  world = await openDoctorWorld(books.url, stack)
  keyFile = join(world.folder, 'base.key')
  await writeFile(keyFile, '1'.repeat(64))
  await chmod(keyFile, 0o600)
})
afterAll(() => stack.disposeAsync())

async function saysOf(id: string, more = ''): Promise<string[]> {
  const entry = `{ network: base, asset: ETH, amount: "0.01", owner: { kind: channel, id: ${id} }${more} }`
  const path = join(world.folder, 'canary.yaml')
  await writeFile(path, `${settingsText}\ncanary: { deposits: [${entry}] }`)
  return world.says('canary base', { DEPOSITD_CONFIG: path })
}

test('an owner that can be paid, by a key that is hidden, is well', async () => {
  expect(readText('docs/operations.md')).toContain('| `canary NETWORK` |')
  expect(await saysOf('shop', `, keyFile: "${keyFile}"`)).toEqual([
    'ok | channel shop can be paid, and is no customer',
  ])
})

test('an owner that is misspelt is warned of', async () => {
  expect(await saysOf('shpo')).toEqual([
    expect.stringMatching(
      /^warning \| channel shpo is not in the address book \| bin\/depositd channels create/,
    ),
  ])
})

test('a key that is open to others or not here is warned of, and one that is none is a fault', async () => {
  await chmod(keyFile, 0o644)
  expect(await saysOf('shop', `, keyFile: "${keyFile}"`)).toEqual([
    `warning | keyFile: can be read by other users of this machine | chmod 600 ${keyFile}`,
  ])
  expect(await saysOf('shop', `, keyFile: "${keyFile}.none"`)).toEqual([
    expect.stringMatching(/^warning \| keyFile: cannot be read: ENOENT/),
  ])
  expect(await saysOf('shop', ', keyFile: canary.yaml')).toEqual([
    expect.stringMatching(/^fault \| keyFile: is no private key: 64 hexadecimal digits \|/),
  ])
})

test('an owner with deposits of others is a fault', async () => {
  const deposit = { tx: txId('pay') }
  await books.receive(claim({ serviceId: 'dep_pay' as ServiceId, deposit }), payment(deposit))
  await books.settle()
  expect(await saysOf('shop')).toEqual([
    expect.stringMatching(/^fault \| channel shop has deposits already, and no worker starts \|/),
  ])
})
