import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { parseExactly, stringifyExactly } from './json.ts'

/** Where a line of the file begins and how many bytes it has. */
export type LinePlace = { offset: number; length: number }

export type JsonLinesFile<Line> = {
  /** The line has left this process when this returns: a kill of it loses nothing. */
  append(line: Line): LinePlace
  read(place: LinePlace): Line
  close(): void
}

/**
 * Opens a file of one JSON document per line and hands every line to `onLine`. A last line that was torn by a kill
 * while it was written was never answered for, and is cut off.
 */
export function openJournal<Line>(
  path: string,
  onLine: (line: Line, place: LinePlace) => void,
): JsonLinesFile<Line> {
  const existing = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  let end = existing.lastIndexOf(newline) + 1
  for (let offset = 0; offset < end; ) {
    const length = existing.indexOf(newline, offset) - offset
    onLine(parseExactly(existing.toString('utf8', offset, offset + length)) as Line, { offset, length })
    offset += length + 1
  }
  const file = openSync(path, existsSync(path) ? 'r+' : 'w+', 0o600)
  ftruncateSync(file, end)
  return {
    append(line) {
      const bytes = Buffer.from(`${stringifyExactly(line)}\n`)
      writeSync(file, bytes, 0, bytes.length, end)
      const place = { offset: end, length: bytes.length - 1 }
      end += bytes.length
      return place
    },
    read({ offset, length }) {
      const bytes = Buffer.alloc(length)
      readSync(file, bytes, 0, length, offset)
      return parseExactly(bytes.toString('utf8')) as Line
    },
    close: () => closeSync(file),
  }
}

const newline = 0x0a
