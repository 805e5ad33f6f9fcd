import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { running, startOpsServer as start } from '../support/ops-server.ts'

test('a port that is taken is a fault that names the setting', async () => {
  const port = Number(new URL(await start()).port)
  await expect(start({ port })).rejects.toThrow(/^settings_bad: faults OPS_PORT \d+ cannot be used/)
})

test('stopping does not wait for who keeps a connection open', async () => {
  const url = new URL(await start())
  const socket = connect(Number(url.port), url.hostname)
  await new Promise((resolve) => socket.once('connect', resolve))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined)
  await running.pop()?.stop()
  await closed
})
