import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { quantile } from './statistics.ts'

/** What a measurement was taken on. */
export type Machine = {
  processor: string
  cores: number
  /** Processes that wanted to run, over the last minute: on an idle machine close to 0. */
  load: number
  node: string
  packages: Record<string, string>
  fsyncMs: { median: number; p99: number }
}

export function describeMachine(folder: string, packages: readonly string[]): Machine {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    load: loadavg()[0] ?? 0,
    node: process.version,
    packages: Object.fromEntries(packages.map((name) => [name, versionOf(name)])),
    fsyncMs: measureFsync(folder),
  }
}

function versionOf(name: string): string {
  const path = join(import.meta.dirname, '../node_modules', name, 'package.json')
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
}

const pageBytes = 8192
const syncs = 300

/** How long the disk takes to keep a page, which every commit waits for. */
function measureFsync(folder: string): Machine['fsyncMs'] {
  const path = join(folder, 'fsync')
  const file = openSync(path, 'w')
  const page = Buffer.alloc(pageBytes, 1)
  const times = Array.from({ length: syncs }, (_, number) => {
    const startedAt = performance.now()
    writeSync(file, page, 0, pageBytes, number * pageBytes)
    fdatasyncSync(file)
    return performance.now() - startedAt
  })
  closeSync(file)
  rmSync(path)
  return { median: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

/** What was measured on, and with which settings: a line each. */
export function machineLines(
  { processor, cores, load, node, packages, fsyncMs }: Machine,
  settings: readonly Record<string, string | number>[],
): string[] {
  return [
    `${processor}, ${cores} cores, load ${load.toFixed(2)} before; node ${node}, ${listed(packages)}`,
    `fsync of 8 KiB: median ${fsyncMs.median.toFixed(2)} ms, p99 ${fsyncMs.p99.toFixed(2)} ms`,
    ...settings.map(listed),
  ]
}

/** `one 1, two 2`. */
export function listed(parts: Record<string, string | number>): string {
  return Object.entries(parts)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}
