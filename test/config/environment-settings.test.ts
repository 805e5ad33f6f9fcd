import { expect, test } from 'vitest'
import { isQueueInDatabase } from '../../src/config/environment-settings.ts'

const databaseUrl = 'postgres://owner:secret@db/books'

test.each([
  databaseUrl,
  'postgresql://runner:other@db/books?sslmode=verify-full',
  'postgres://runner@db:5432/books',
])('%s is the same place, whoever logs in and how', (queueUrl) => {
  expect(isQueueInDatabase({ databaseUrl, queueUrl })).toBe(true)
})

test.each(['postgres://db/queue', 'postgres://db:5433/books', 'postgres://other/books', 'redis://db/books'])(
  '%s is another',
  (queueUrl) => {
    expect(isQueueInDatabase({ databaseUrl, queueUrl })).toBe(false)
  },
)
