import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { reach } from '../src/failpoint.ts'

const sources = join(import.meta.dirname, '../src')
const failpoint = join(sources, 'failpoint.ts')

function reachedIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path !== failpoint)
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/\breach\('([\w.]+)'\)/g)])
    .map(([, name = '']) => name)
}

test('every failpoint is a place of the program, and one place only', () => {
  const named = [...readFileSync(failpoint, 'utf8').matchAll(/^ {2}\| '([\w.]+)'$/gm)].map(
    ([, name = '']) => name,
  )
  expect(named.length).toBeGreaterThan(10)
  expect(reachedIn(sources).toSorted()).toEqual(named.toSorted())
})

test('whoever listens is told of a failpoint before the program goes on, and nobody else can be', () => {
  const heard: unknown[] = []
  const hear = (name: unknown) => void heard.push(name)
  reach('sweep.began')
  subscribe('depositd.failpoint', hear)
  reach('apply.read')
  expect(heard).toEqual(['apply.read'])
  unsubscribe('depositd.failpoint', hear)
  reach('apply.read')
  expect(heard).toEqual(['apply.read'])
})

test('the program itself listens to no failpoint', () => {
  const listening = readdirSync(sources, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(
      (path) =>
        path !== failpoint && /depositd\.failpoint|diagnostics_channel/.test(readFileSync(path, 'utf8')),
    )
  expect(listening).toEqual([])
})
