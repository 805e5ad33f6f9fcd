import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, loopback, onFreePort } from '../../src/sandbox/free-port.ts'

test('a port that another process takes before the start is replaced by a free one', async () => {
  const wanted = await freePort()
  const ports: number[] = []
  const started = await onFreePort(wanted, async (port) => {
    if (ports.length === 0) await listenOn(port)
    ports.push(port)
    return listenOn(port)
  })
  expect(started.address()).toMatchObject({ port: ports[1] })
  expect(ports).toEqual([wanted, expect.not.toSatisfy((port) => port === wanted)])
})

test('a start that fails for another reason is not repeated', async () => {
  const ports: number[] = []
  const start = async (port: number): Promise<never> => {
    ports.push(port)
    throw new Error('no database')
  }
  await expect(onFreePort(undefined, start)).rejects.toThrow('no database')
  expect(ports).toHaveLength(1)
})

async function listenOn(port: number): Promise<Server> {
  const server = createServer()
  onTestFinished(() => void server.close())
  server.listen(port, loopback)
  await once(server, 'listening')
  return server
}
