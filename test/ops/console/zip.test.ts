import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ZipWriter } from '../../../src/ops/console/zip.ts'
import { unzipped } from '../../support/zipped.ts'

async function archiveOf(files: Record<string, string>): Promise<Buffer> {
  const archive = new ZipWriter()
  const read = buffer(archive.output)
  for (const [name, text] of Object.entries(files)) await archive.file(name, text)
  archive.finish()
  return read
}

test('the same files give the same bytes, and are read back', async () => {
  const files = { 'journals.csv': 'id\n'.repeat(100_000), 'größe.json': '{}' }
  const [one, other] = [await archiveOf(files), await archiveOf(files)]
  expect(unzipped(one)).toEqual(files)
  expect(one.equals(other)).toBe(true)
})

test('a writer whose reader is gone fails, instead of waiting', async () => {
  const archive = new ZipWriter()
  archive.begin('large.bin')
  const writing = (async () => {
    for (;;) await archive.write(randomBytes(100_000))
  })()
  // Until no buffer takes more.
  await sleep(300)
  archive.abort(new Error('the reader is gone'))
  await expect(writing).rejects.toThrow()
  expect(() => archive.begin('next')).toThrow('the reader is gone')
})
