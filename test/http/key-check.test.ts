import express from 'express'
import { afterEach, expect, test, vi } from 'vitest'
import { createKeyCheck } from '../../src/http/key-check.ts'
import { startHttpServer } from '../../src/http/server.ts'
import { serverLimits } from '../../src/http/server-limits.ts'

afterEach(() => vi.useRealTimers())

test('a key that was found is looked up again once its time is over; an unknown one each time', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const found: string[] = []
  const valid = new Set(['a', 'b'])
  const check = createKeyCheck({
    limit: { perSecond: 100, burst: 100 },
    presented: (request) => request.get('key') ?? '',
    async find(text) {
      found.push(text)
      return valid.has(text) ? { id: text } : null
    },
    goodForMs: 1000,
    refuse: { missing: () => new Error(), unknown: () => new Error('unknown'), tooMany: () => new Error() },
  })
  const app = express().use((request, response) => {
    check({ request, response }).then(
      ({ id }) => response.send(id),
      (error: Error) => response.send(error.message),
    )
  })
  const limits = { ...serverLimits, connectionsMax: 9, connectionsPerSourceMax: 9 }
  const server = await startHttpServer(app, { host: '127.0.0.1', port: 0, limits, drainMs: 1000 })
  const send = async (key: string) => (await fetch(server.url, { headers: { key } })).text()
  try {
    expect([await send('a'), await send('a'), await send('b'), await send('x'), await send('x')]).toEqual([
      'a',
      'a',
      'b',
      'unknown',
      'unknown',
    ])
    expect(found.splice(0)).toEqual(['a', 'b', 'x', 'x'])
    valid.delete('a')
    vi.advanceTimersByTime(1000)
    expect([await send('a'), await send('b')]).toEqual(['unknown', 'b'])
    expect(found).toEqual(['a', 'b'])
  } finally {
    await server.stop()
  }
})
