import { expect, test } from 'vitest'
import { Fault } from '../../src/core/errors.ts'
import { describeThrown } from '../../src/log/create-log.ts'

test('of a long message the beginning is written, whoever wrote it', () => {
  const long = `the node said ${'a-b '.repeat(20_000)}`
  const thrown = new AggregateError(
    Array.from(
      { length: 12 },
      () => new Fault('remote_failed', { what: 'x', problem: long }, { cause: long }),
    ),
    long,
    { cause: long },
  )
  const err = describeThrown(thrown)
  expect(JSON.stringify(err).length).toBeLessThan(120_000)
  for (const message of [err.message, err.cause?.message, err.errors?.[0]?.cause?.message]) {
    expect(message).toMatch(/^the node said a-b .*… \(80014 characters\)$/)
    expect(message?.length).toBeLessThan(2100)
  }
  expect(err.errors?.[0]?.details).toEqual({ what: 'x', problem: expect.stringMatching(/^the .{1,2100}$/) })
})

test('no half of a secret stays where a message is cut', () => {
  const key = 'sk_live_9f8e7d6c'
  for (let length = 1900; length < 2100; length++) {
    const { message } = describeThrown(new Error(`${'a '.repeat(length / 2)}${key} ${'b'.repeat(500)}`))
    expect(message.replaceAll(key, '')).not.toContain('sk_')
  }
})
