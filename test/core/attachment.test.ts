import { expect, test } from 'vitest'
import { attachmentName } from '../../src/core/attachment.ts'

test.each([
  ['mail.pdf', 'mail.pdf'],
  ['/home/erin/mail from the service.pdf', 'mail from the service.pdf'],
  ['C:\\files\\..\\mail.pdf', 'mail.pdf'],
  ['../.bashrc', 'bashrc'],
  ['a"b\r\nSet-Cookie: x', 'a_b__Set-Cookie_ x'],
  ['exe.\u202Efdp', 'exe._fdp'],
  ['...', 'file'],
  ['', 'file'],
])('%j is stored as %s', (given, name) => {
  expect(attachmentName(given)).toBe(name)
})

test('a long name keeps its end', () => {
  expect(attachmentName(`${'a'.repeat(300)}.pdf`)).toMatch(/^a{196}\.pdf$/)
})
