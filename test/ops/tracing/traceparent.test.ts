import { expect, test } from 'vitest'
import { parseTraceparent, writeTraceparent } from '../../../src/ops/tracing/otlp-tracing.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'

test.each([
  ['sampled', `00-${traceId}-${spanId}-01`, true],
  ['not sampled', `00-${traceId}-${spanId}-00`, false],
  ['sampled, with a flag that nobody knows yet', `00-${traceId}-${spanId}-03`, true],
  ['of a later version, which may say more', `01-${traceId}-${spanId}-01-more`, true],
])('a traceparent that is %s is taken up', (_what, text, isSampled) => {
  expect(parseTraceparent(text)).toEqual({ traceId, spanId, isSampled })
})

test.each([
  ['nothing', undefined],
  ['an empty text', ''],
  ['a version that cannot be', `ff-${traceId}-${spanId}-01`],
  ['more than its version has', `00-${traceId}-${spanId}-01-more`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['capitals', `00-${traceId.toUpperCase()}-${spanId}-01`],
  ['two of them', `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
  ['a line break behind it', `00-${traceId}-${spanId}-01\n`],
])('%s is passed over', (_what, text) => {
  expect(parseTraceparent(text)).toBeNull()
})

test('what is written is read as the same', () => {
  for (const isSampled of [true, false])
    expect(parseTraceparent(writeTraceparent({ traceId, spanId, isSampled }))).toEqual({
      traceId,
      spanId,
      isSampled,
    })
})
