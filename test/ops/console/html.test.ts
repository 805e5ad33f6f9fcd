import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { clip, html, linkTo, readable } from '../../../src/ops/console/html.ts'

test('what is put in is text, whatever it looks like', () => {
  expect(html`<p title="${'" onload="x'}">${'<script>alert(1)</script>'}</p>`.text).toBe(
    '<p title="&#34; onload=&#34;x">&#60;script&#62;alert(1)&#60;/script&#62;</p>',
  )
})

test('no text opens an element or ends an attribute', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '`', '&', 'a', ';', '\u202e', '\ud800') }),
      (text) => {
        expect(html`${text}`.text).not.toMatch(/[<>"'`]|&(?!#\d+;)/)
      },
    ),
  )
})

test('what turns lines around or steers a terminal is not handed on', () => {
  expect(html`${'pay\u202efdp\u0000\u001b[2J'}`.text).toBe('pay\ufffdfdp\ufffd\ufffd[2J')
})

test('markup stays markup, lists are one after the other, and null is nothing', () => {
  expect(html`<ul>${[1n, 2].map((one) => html`<li>${one}</li>`)}${null}</ul>`.text).toBe(
    '<ul><li>1</li><li>2</li></ul>',
  )
})

test('a text without end is cut', () => {
  expect(html`${'x'.repeat(1_000_000)}`.text.length).toBeLessThan(5000)
  expect(clip('abcdef', 3)).toBe('abc…')
})

test('a link carries what is given, escaped', () => {
  expect(linkTo('/deposits', { owner: 'a&b=c', state: null, network: '' })).toBe('/deposits?owner=a%26b%3Dc')
  expect(linkTo('/deposits')).toBe('/deposits')
})

function shown(text: string): string {
  return html`${readable(text)}`.text
}

test('amounts have separators from a thousand on; ids, hashes and parts after the dot have none', () => {
  expect(shown('1234567.891234 USDC, -11018.970000')).toBe('1,234,567.891234 USDC, -11,018.970000')
  expect(shown('999.1234567 and 12345678')).toBe('999.1234567 and 12345678')
  expect(shown('journal 12345, 0x12345678.5, v1.23456.7')).toBe('journal 12345, 0x12345678.5, v1.23456.7')
})
