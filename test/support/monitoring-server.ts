import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { until } from './until.ts'

export type MonitoringServer = { url: string; stop: () => Promise<void> }

type Place = { folder: string; address: string }

/**
 * Starts a throwaway Prometheus or Alertmanager on a free loopback port, in a folder of its own, and waits until it is
 * ready.
 * @param wordsIn its arguments
 */
export async function startMonitoring(
  program: string,
  wordsIn: (place: Place) => Promise<readonly string[]> | readonly string[],
): Promise<MonitoringServer> {
  const folder = await mkdtemp(join(tmpdir(), `depositd-${program}-`))
  const address = `${loopback}:${await freePort()}`
  const url = `http://${address}`
  const server = spawn(program, await wordsIn({ folder, address }), {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(server, 'exit')
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await until(`${program} is ready`, () => {
      if (server.exitCode !== null) throw new Error(`${program} ended with ${server.exitCode}`)
      return isReady(url)
    })
  } catch (error) {
    await stop()
    throw error
  }
  return { url, stop }
}

async function isReady(url: string): Promise<true | null> {
  const response = await fetch(`${url}/-/ready`).catch(() => null)
  await response?.body?.cancel()
  return response?.ok === true || null
}
