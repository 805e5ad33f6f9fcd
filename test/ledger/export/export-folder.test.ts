import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ExportFolder } from '../../../src/ledger/export/export-folder.ts'
import { temporaryFolder } from '../../support/folder.ts'

const open = (folder: string) => ExportFolder.open(folder, { file: 'books.csv', head: 'a,ü\n' })

test.each([
  [[]],
  [['books.csv.part']],
  [['books.csv.part', 'manifest.json.new']],
  [['books.csv', 'manifest.json.new']],
])('an export into a folder that contains %j is complete with its manifest', async (names) => {
  const folder = join(await temporaryFolder(), 'new')
  await (await open(folder))[Symbol.asyncDispose]()
  for (const name of names) writeFileSync(join(folder, name), 'an interrupted export')
  await using started = await open(folder)
  await started.write(['b\n'])
  expect(readdirSync(folder)).not.toContain('manifest.json')
  const manifest = await started.finish((files) => ({ files }))
  const sha256 = createHash('sha256').update('a,ü\nb\n').digest('hex')
  expect(manifest).toEqual({ files: [{ name: 'books.csv', bytes: 7, sha256 }] })
  expect(readFileSync(join(folder, 'manifest.json'), 'utf8')).toBe(`${JSON.stringify(manifest, null, 2)}\n`)
  expect(readFileSync(join(folder, 'books.csv'), 'utf8')).toBe('a,ü\nb\n')
  expect(readdirSync(folder).toSorted()).toEqual(['books.csv', 'manifest.json'])
})

test.each([
  [[]],
  [['books.csv.part', 'books-2.csv.part', 'books-4.csv.part']],
  [['books.csv', 'books-2.csv.part', 'manifest.json.new']],
])('what does not fit into one file goes on in others, with %j in the folder', async (names) => {
  const folder = await temporaryFolder()
  for (const name of names) writeFileSync(join(folder, name), 'an interrupted export')
  await using started = await ExportFolder.open(folder, { file: 'books.csv', head: 'head\n', linesMax: 4 })
  await started.write(['a\nb\n', 'c\nd\n', 'e\n'])
  await started.write(['f\n'])
  const { files } = await started.finish((all) => ({ files: all }))
  const texts = ['head\na\nb\n', 'head\nc\nd\ne\n', 'head\nf\n']
  expect(files).toEqual(
    ['books.csv', 'books-2.csv', 'books-3.csv'].map((name, place) => ({
      name,
      bytes: texts[place]?.length,
      sha256: createHash('sha256')
        .update(texts[place] ?? '')
        .digest('hex'),
    })),
  )
  expect(files.map(({ name }) => readFileSync(join(folder, name), 'utf8'))).toEqual(texts)
  expect(readdirSync(folder)).toHaveLength(4)
})

test.each([
  [['manifest.json', 'books.csv'], /^usage_bad: .*already contains a complete export: .*another folder/],
  [['books.csv'], /^usage_bad: .*--out is not empty: .*an empty folder/],
  [['books-2.csv', 'books.csv.part'], /^usage_bad: .*--out is not empty/],
  [['other', 'books.csv.part'], /^usage_bad: .*--out is not empty/],
])('an export into a folder that contains %j is refused', async (names, problem) => {
  const folder = await temporaryFolder()
  for (const name of names) writeFileSync(join(folder, name), '')
  await expect(open(folder)).rejects.toThrow(problem)
  await expect(open(join(folder, names[0] ?? ''))).rejects.toThrow(
    /^usage_bad: .*--out cannot be written: .*a folder that can be written/,
  )
})
