import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { createOpenResponses } from '../../src/http/server.ts'

const response = () => new EventEmitter() as ServerResponse

test('it is idle when the last response is closed, in whatever order they close, and places are used again', () => {
  let idle = 0
  const responses = createOpenResponses(() => idle++)
  expect(responses.isIdle()).toBe(true)
  const [a, b, c] = [response(), response(), response()]
  responses.add(a)
  responses.add(b)
  a.emit('close')
  responses.add(c)
  expect(responses.all()).toEqual([c, b])
  expect(responses.isIdle()).toBe(false)
  b.emit('close')
  expect(idle).toBe(0)
  c.emit('close')
  expect(idle).toBe(1)
  expect(responses.isIdle()).toBe(true)
  expect(responses.all()).toEqual([])
})
