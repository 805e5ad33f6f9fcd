import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { createAnswering } from '../../src/intake/server.ts'

const response = () => new EventEmitter() as ServerResponse

test('it is idle when the last response is closed, in whatever order they close, and places are used again', () => {
  let idle = 0
  const answering = createAnswering(() => idle++)
  expect(answering.isIdle()).toBe(true)
  const [a, b, c] = [response(), response(), response()]
  answering.add(a)
  answering.add(b)
  a.emit('close')
  answering.add(c)
  expect(answering.all()).toEqual([c, b])
  expect(answering.isIdle()).toBe(false)
  b.emit('close')
  expect(idle).toBe(0)
  c.emit('close')
  expect(idle).toBe(1)
  expect(answering.isIdle()).toBe(true)
  expect(answering.all()).toEqual([])
})
