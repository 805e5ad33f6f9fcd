import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ExportProgress, type ExportWish, exportLedger } from '../../../src/jobs/books/export-ledger.ts'
import { formatNames } from '../../../src/ledger/export/formats.ts'
import type { Books } from '../../support/books.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { openValuedBooks } from '../../support/valued-books.ts'

let books: Books

beforeAll(async () => {
  books = await openValuedBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const all = { from: null, before: null, period: null, recordedAsOf: null, account: null, owner: null }

const wish: Omit<ExportWish, 'folder'> = {
  format: 'hledger',
  selection: all,
  pageSize: 2,
  onProgress: () => undefined,
}

function contents(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )
}

test('an interrupted export starts over in the same folder, and has the same bytes', async () => {
  const [folder, whole] = [await temporaryFolder(), await temporaryFolder()]
  await expect(
    exportLedger(books.db, { ...wish, folder, onProgress: () => expect.fail('interrupted') }),
  ).rejects.toThrow('interrupted')
  expect(readdirSync(folder)).toEqual(['books.journal.part'])
  await exportLedger(books.db, { ...wish, folder })
  await exportLedger(books.db, { ...wish, folder: whole })
  expect(contents(folder)).toEqual(contents(whole))
})

test('an export that was interrupted before its manifest starts over, and a file without one is kept', async () => {
  const folder = await temporaryFolder()
  writeFileSync(join(folder, 'books.journal'), 'by hand')
  await expect(exportLedger(books.db, { ...wish, folder })).rejects.toThrow(/--out is not empty/)
  expect(contents(folder)).toEqual({ 'books.journal': 'by hand' })
  writeFileSync(join(folder, 'manifest.json.new'), '{}')
  await exportLedger(books.db, { ...wish, folder })
  expect(readdirSync(folder).toSorted()).toEqual(['books.journal', 'manifest.json'])
  expect(contents(folder)['books.journal']).not.toBe('by hand')
})

test('an export of an owner states in its manifest that owners are those at the time of the export', async () => {
  const [folder, whole] = [await temporaryFolder(), await temporaryFolder()]
  await exportLedger(books.db, { ...wish, folder, selection: { ...all, owner: 'shop' } })
  await exportLedger(books.db, { ...wish, folder: whole })
  expect(contents(folder)['manifest.json']).toContain(
    '"note": "journals were selected by the owner of their deposit at the time of the export',
  )
  expect(contents(whole)['manifest.json']).not.toContain('note')
})

test.each(formatNames)(
  '%s has the same bytes with pages of any size, and progress ends at the last journal',
  async (format) => {
    const reported: ExportProgress[] = []
    const folders = [await temporaryFolder(), await temporaryFolder()]
    for (const [place, size] of [1, 1000].entries())
      await exportLedger(books.db, {
        ...wish,
        folder: folders[place] ?? '',
        format,
        pageSize: size,
        onProgress: (progress) => void reported.push(progress),
      })
    expect(contents(folders[0] ?? '')).toEqual(contents(folders[1] ?? ''))
    const last = reported.at(-1)
    expect(last?.at).toBe(last?.of)
    expect(reported.length).toBeGreaterThan(5)
  },
)
