import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ExportProgress, type ExportWish, exportLedger } from '../../../src/jobs/books/export-ledger.ts'
import { formatNames } from '../../../src/ledger/export/formats.ts'
import type { Books } from '../../support/books.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { temporaryFolder } from '../../support/folder.ts'

let books: Books

beforeAll(async () => {
  books = await openExampleBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const all = { from: null, before: null, period: null, recordedAsOf: null, account: null, owner: null }

const wish: Omit<ExportWish, 'folder'> = {
  format: 'hledger',
  selection: all,
  resume: false,
  paging: { size: 2, pagesPerCheckpoint: 2 },
  onProgress: () => undefined,
}

/** As when the machine stops after so many pages. */
function breakingOffAfter(pages: number): (progress: ExportProgress) => void {
  let left = pages
  return () => {
    if (left === 0) throw new Error('broken off')
    left -= 1
  }
}

function contents(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )
}

test.each(formatNames)('%s: wherever it is broken off, it goes on to the same bytes', async (format) => {
  const whole = await temporaryFolder()
  await exportLedger(books.db, { ...wish, format, folder: whole })
  const pages = Math.ceil((contents(whole)['manifest.json'] ?? '').length / 1000) + 6
  for (let broken = 1; broken < pages; broken++) {
    const folder = await temporaryFolder()
    const first = { ...wish, format, folder, resume: false, onProgress: breakingOffAfter(broken) }
    const outcome = await exportLedger(books.db, first).catch((error: Error) => error.message)
    if (typeof outcome !== 'string') break
    expect(outcome).toBe('broken off')
    expect(readdirSync(folder)).not.toContain('manifest.json')
    await exportLedger(books.db, { ...wish, format, folder, resume: true })
    expect(contents(folder)).toEqual(contents(whole))
  }
})

async function brokenOff(): Promise<string> {
  const folder = await temporaryFolder()
  await expect(exportLedger(books.db, { ...wish, folder, onProgress: breakingOffAfter(3) })).rejects.toThrow(
    'broken off',
  )
  return folder
}

test('what was written behind the last checkpoint is written again', async () => {
  const [folder, whole] = [await brokenOff(), await temporaryFolder()]
  appendFileSync(join(folder, 'books.journal.part'), 'half a jour')
  await exportLedger(books.db, { ...wish, folder, resume: true })
  await exportLedger(books.db, { ...wish, folder: whole })
  expect(contents(folder)).toEqual(contents(whole))
})

test('broken off between the name of the file and the manifest, it goes on to the same bytes', async () => {
  const [folder, whole] = [await temporaryFolder(), await temporaryFolder()]
  const paging = { size: 1000, pagesPerCheckpoint: 9 }
  const inTheWay = join(folder, 'manifest.json.new')
  mkdirSync(inTheWay)
  await expect(exportLedger(books.db, { ...wish, paging, folder })).rejects.toThrow(/EISDIR/)
  rmdirSync(inTheWay)
  expect(readdirSync(folder)).toContain('books.journal')
  await exportLedger(books.db, { ...wish, paging, folder, resume: true })
  await exportLedger(books.db, { ...wish, paging, folder: whole })
  expect(contents(folder)).toEqual(contents(whole))
})

test('of an owner, the manifest says that owners are those of the export', async () => {
  const [folder, whole] = [await temporaryFolder(), await temporaryFolder()]
  await exportLedger(books.db, { ...wish, folder, selection: { ...all, owner: 'shop' } })
  await exportLedger(books.db, { ...wish, folder: whole })
  expect(contents(folder)['manifest.json']).toContain(
    '"note": "journals were selected by the owner of their deposit at the time of the export',
  )
  expect(contents(whole)['manifest.json']).not.toContain('note')
})

test('an export that was broken off goes on only where it is asked to', async () => {
  const folder = await brokenOff()
  await expect(exportLedger(books.db, { ...wish, folder })).rejects.toThrow(/an interrupted export/)
})

test('it goes on only with the options with which it was begun', async () => {
  const folder = await brokenOff()
  const other = { ...wish, folder, resume: true, selection: { ...all, period: '2026-01' } }
  await expect(exportLedger(books.db, other)).rejects.toThrow(/--resume: another export was begun/)
})

test('it does not go on behind something else than what it wrote', async () => {
  const folder = await brokenOff()
  const path = join(folder, 'books.journal.part')
  writeFileSync(path, readFileSync(path, 'utf8').replace('deposit', 'deposed'))
  await expect(exportLedger(books.db, { ...wish, folder, resume: true })).rejects.toThrow(
    /is missing or altered/,
  )
})

test('to go on where nothing was begun is to begin', async () => {
  const [folder, whole] = [await temporaryFolder(), await temporaryFolder()]
  await exportLedger(books.db, { ...wish, folder, resume: true })
  await exportLedger(books.db, { ...wish, folder: whole })
  expect(contents(folder)).toEqual(contents(whole))
})

test('pages of any size come to the same bytes, and progress ends at the last journal', async () => {
  const reported: ExportProgress[] = []
  const folders = [await temporaryFolder(), await temporaryFolder()]
  for (const [place, size] of [1, 1000].entries())
    await exportLedger(books.db, {
      ...wish,
      folder: folders[place] ?? '',
      paging: { size, pagesPerCheckpoint: 1 },
      onProgress: (progress) => void reported.push(progress),
    })
  expect(contents(folders[0] ?? '')).toEqual(contents(folders[1] ?? ''))
  const last = reported.at(-1)
  expect(last?.at).toBe(last?.of)
  expect(reported.length).toBeGreaterThan(5)
})
