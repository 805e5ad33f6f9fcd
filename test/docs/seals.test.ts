import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Proof } from '../../src/ledger/merkle-tree.ts'
import { type Seal, withHash } from '../../src/ledger/seal.ts'
import { type Books, openBooks } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { bookPayments, seal } from '../support/sealed-books.ts'
import { readText } from './pages.ts'

let books: Books
const folder = temporaryFolderOfFile()
let seals: Seal[]
const [, script = ''] = /```js\n([^]*?)```/.exec(readText('docs/seals.md')) ?? []

beforeAll(async () => {
  books = await openBooks()
  seals = []
  for (const [first, count] of [
    [100, 5],
    [200, 7],
    [300, 1],
  ] as const) {
    await bookPayments(books, first, count)
    seals.push(...(await seal(books)))
  }
  writeFileSync(pathOf('anchors.jsonl'), (await depositd('ledger seals export')).out)
  writeFileSync(pathOf('check-proof.mjs'), script)
})
afterAll(() => books[Symbol.asyncDispose]())

const pathOf = (name: string) => join(folder, name)
const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })

/** As the page says it is run. */
function checkProof(proof = 'proof.json', anchors = 'anchors.jsonl', ...published: string[]) {
  return runScript([proof, anchors, ...published])
}

function runScript(words: readonly string[]) {
  const ran = spawnSync(process.execPath, ['check-proof.mjs', ...words], {
    cwd: folder,
    encoding: 'utf8',
  })
  return { status: ran.status, said: (ran.stdout + ran.stderr).trim() }
}

async function proofOf(journal: number): Promise<Proof> {
  await depositd(`ledger prove ${journal} --out ${pathOf('proof.json')}`)
  return JSON.parse(readFileSync(pathOf('proof.json'), 'utf8')) as Proof
}

function checkAltered(proof: Proof) {
  writeFileSync(pathOf('altered.json'), JSON.stringify(proof))
  return checkProof('altered.json')
}

test('the script is short', () => {
  expect(script.trimEnd().split('\n').length).toBeLessThanOrEqual(50)
})

test('the proof of every journal is one, by the anchors, and by the hash of a later seal', async () => {
  for (let journal = 1; journal <= 13; journal++) {
    const proof = await proofOf(journal)
    const said = `journal ${journal} is sealed by seal ${proof.seal.number} since ${proof.seal.sealedAt}`
    expect(checkProof()).toEqual({ status: 0, said })
  }
  await proofOf(3)
  expect(checkProof('proof.json', 'anchors.jsonl', seals[2]?.hash ?? '')).toMatchObject({ status: 0 })
})

test.each([[[]], [['proof.json']]])('without its files, %j, it says what it takes', (words) => {
  expect(runScript(words)).toEqual({
    status: 1,
    said: 'NOT PROVED: give the proof and the anchors: node check-proof.mjs proof.json anchors.jsonl [HASH]',
  })
})

test('the hash of an earlier seal, or of none, proves nothing', async () => {
  await proofOf(8)
  for (const hash of [seals[0]?.hash ?? '', 'f'.repeat(64)])
    expect(checkProof('proof.json', 'anchors.jsonl', hash)).toEqual({
      status: 1,
      said: 'NOT PROVED: no anchor is the published one',
    })
})

test('a proof in which anything is altered is none', async () => {
  const proof = await proofOf(8)
  const { journal, path, seal: own } = proof
  const notAmong = { status: 1, said: 'NOT PROVED: the journal is not among those of its seal' }
  const renamed = journal.map(([name, value]) => [name, name === 'posting_key' ? 'x' : value] as const)
  expect(checkAltered({ ...proof, journal: renamed })).toEqual(notAmong)
  expect(checkAltered({ ...proof, index: 3 })).toEqual(notAmong)
  expect(checkAltered({ ...proof, index: 99 })).toMatchObject({ status: 1 })
  expect(checkAltered({ ...proof, path: path.slice(1) })).toEqual(notAmong)
  expect(checkAltered({ ...proof, path: [...path, ...path] })).toMatchObject({ status: 1 })
  expect(checkAltered({ ...proof, seal: { ...own, sealedAt: '2020' } })).toEqual({
    status: 1,
    said: 'NOT PROVED: the seal is altered',
  })
  const made = withHash({ ...own, sealedAt: '2020' })
  expect(checkAltered({ ...proof, seal: made })).toEqual({
    status: 1,
    said: 'NOT PROVED: its seal is not among the anchors',
  })
})

test('anchors in which a line is altered or left out prove nothing', async () => {
  await proofOf(8)
  const lines = readFileSync(pathOf('anchors.jsonl'), 'utf8').split('\n')
  writeFileSync(pathOf('without.jsonl'), [lines[0], lines[2]].join('\n'))
  writeFileSync(pathOf('altered.jsonl'), [lines[0], lines[1]?.replace('"7"', '"8"')].join('\n'))
  for (const anchors of ['without.jsonl', 'altered.jsonl'])
    expect(checkProof('proof.json', anchors)).toEqual({
      status: 1,
      said: 'NOT PROVED: line 2 of the anchors is altered',
    })
})
