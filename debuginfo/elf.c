/*
 * elf.c - ELF by libelf: checks the file, reads build-id and symbols, and collects code
 * addresses that are taken.
 */
#include "debuginfo/private.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE
#endif

static const char *machine_name(unsigned machine)
{
	static const struct {
		unsigned machine;
		const char *name;
	} names[] = {
		{ EM_386, "32-bit x86" },  { EM_X86_64, "x86-64" }, { EM_ARM, "32-bit ARM" },
		{ EM_AARCH64, "AArch64" }, { EM_RISCV, "RISC-V" },  { EM_PPC64, "PowerPC 64" },
		{ EM_S390, "s390" },       { EM_MIPS, "MIPS" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (names[i].machine == machine)
			return names[i].name;
	return "another machine";
}

static void append_hex(char *out, size_t room, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count && 2 * i + 2 < room; i++)
		g_snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void read_build_id(struct debuginfo *d, Elf_Data *data)
{
	GElf_Nhdr header;
	size_t at = 0, next, name, description;
	while (at < data->d_size &&
	       (next = gelf_getnote(data, at, &header, &name, &description)) > 0) {
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
		    memcmp((char *)data->d_buf + name, "GNU", 4) == 0)
			append_hex(d->links.build_id, sizeof d->links.build_id,
			           (uint8_t *)data->d_buf + description, header.n_descsz);
		at = next;
	}
}

static void read_symbols(struct debuginfo *d, Elf *elf, Elf_Scn *section, GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	if (data == NULL || header->sh_entsize == 0)
		return;
	size_t count = data->d_size / header->sh_entsize;
	for (size_t i = 0; i < count; i++) {
		GElf_Sym sym;
		if (gelf_getsym(data, i, &sym) == NULL || sym.st_shndx == SHN_UNDEF ||
		    sym.st_value == 0)
			continue;
		unsigned type = GELF_ST_TYPE(sym.st_info);
		GArray *to = type == STT_FUNC || type == STT_GNU_IFUNC ? d->code_symbols
		             : type == STT_OBJECT                      ? d->data_symbols
		                                                       : NULL;
		const char *name = elf_strptr(elf, header->sh_link, sym.st_name);
		if (to == NULL || name == NULL || name[0] == '\0')
			continue;
		const char *own = debuginfo_intern(d, name);
		struct elf_symbol s = { sym.st_value, sym.st_size, own, own,
			                GELF_ST_BIND(sym.st_info) != STB_LOCAL };
		g_array_append_val(to, s);
	}
}

/* Addends of relative relocations include addresses in tables of functions. */
static void read_relocations(struct debuginfo *d, Elf_Data *data, size_t entry)
{
	if (entry == 0)
		return;
	for (size_t i = 0; i < data->d_size / entry; i++) {
		GElf_Rela rela;
		if (gelf_getrela(data, i, &rela) == NULL || rela.r_addend <= 0)
			continue;
		uint64_t address = (uint64_t)rela.r_addend;
		g_array_append_val(d->taken, address);
	}
}

/* x86-64: position-independent code takes the address of a function by `lea disp32(%rip),
 * reg`. Every offset is tried: other bytes rarely form this instruction with the start of a
 * function as target, and the only cost is an inferred unit too many. */
static void scan_code(struct debuginfo *d, const Elf_Data *data, uint64_t base)
{
	if (OUR_MACHINE != EM_X86_64)
		return;
	const uint8_t *p = data->d_buf;
	for (size_t i = 0; i + 7 <= data->d_size; i++) {
		if ((p[i] != 0x48 && p[i] != 0x4c) || p[i + 1] != 0x8d ||
		    (p[i + 2] & 0xc7) != 5)
			continue;
		int32_t displacement;
		memcpy(&displacement, p + i + 3, 4);
		uint64_t address = base + i + 7 + (int64_t)displacement;
		g_array_append_val(d->taken, address);
	}
}

/* The name in .gnu_debuglink, where separate debug files are looked for. */
static void read_link(struct debuginfo *d, const Elf_Data *data)
{
	size_t length = data->d_buf ? strnlen(data->d_buf, data->d_size) : 0;
	if (length < data->d_size && length < sizeof d->links.link)
		memcpy(d->links.link, data->d_buf, length + 1);
}

static bool is_named(Elf *elf, const GElf_Shdr *header, const char *wanted)
{
	size_t names;
	const char *name = elf_getshdrstrndx(elf, &names) == 0
	                           ? elf_strptr(elf, names, header->sh_name)
	                           : NULL;
	return name != NULL && strcmp(name, wanted) == 0;
}

static void read_sections(struct debuginfo *d, Elf *elf, bool symbols_alone)
{
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) == NULL)
			continue;
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) {
			read_symbols(d, elf, section, &header);
			continue;
		}
		bool code = header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_EXECINSTR);
		Elf_Data *link = NULL;
		if (!symbols_alone && header.sh_type == SHT_PROGBITS &&
		    is_named(elf, &header, ".gnu_debuglink") &&
		    (link = elf_getdata(section, NULL)) != NULL)
			read_link(d, link);
		if (symbols_alone ||
		    !(code || header.sh_type == SHT_NOTE || header.sh_type == SHT_RELA))
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		if (data == NULL || data->d_buf == NULL)
			continue;
		if (header.sh_type == SHT_NOTE)
			read_build_id(d, data);
		else if (header.sh_type == SHT_RELA)
			read_relocations(d, data, header.sh_entsize);
		else
			scan_code(d, data, header.sh_addr);
	}
}

static bool check_header(struct debuginfo *d, Elf *elf, struct error *error)
{
	struct place where = place_line(d->path, 0);
	GElf_Ehdr header;
	if (elf_kind(elf) != ELF_K_ELF)
		return error_set(error, where.text,
		                 "name the program itself, not a script or an archive",
		                 "an ELF executable or library was expected, this is none");
	if (gelf_getehdr(elf, &header) == NULL)
		return error_set(error, where.text, "build it again",
		                 "the ELF header is corrupt (%s)", elf_errmsg(-1));
	if (header.e_machine != OUR_MACHINE)
		return error_set(error, where.text,
		                 "use the program that was recorded on this machine",
		                 "a program for %s was expected, this one is for %s",
		                 machine_name(OUR_MACHINE), machine_name(header.e_machine));
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return error_set(
		        error, where.text, "link it first",
		        "an executable or a shared library was expected, this is an object "
		        "file or a core dump");
	return true;
}

bool debuginfo_read_elf(struct debuginfo *d, struct error *error)
{
	struct place where = place_line(d->path, 0);
	int fd = open(d->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait */
	struct stat status;
	if (fd < 0 || fstat(fd, &status) != 0) {
		int why = errno;
		if (fd >= 0)
			close(fd);
		return error_set(error, where.text, "give the program's place with --exe",
		                 "cannot be opened: %s", g_strerror(why));
	}
	if (!S_ISREG(status.st_mode)) {
		close(fd);
		return error_set(error, where.text, "give the program's place with --exe",
		                 "an ELF executable was expected, this is no regular file");
	}
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	bool good = elf != NULL ? check_header(d, elf, error)
	                        : error_set(error, where.text, NULL,
	                                    "cannot be read as ELF: %s", elf_errmsg(-1));
	if (good)
		read_sections(d, elf, false);
	elf_end(elf);
	close(fd);
	return good;
}

void debuginfo_read_more_symbols(struct debuginfo *d, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf != NULL && elf_kind(elf) == ELF_K_ELF)
		read_sections(d, elf, true);
	elf_end(elf);
	close(fd);
}

static GBytes *section_bytes(Elf_Scn *section, const GElf_Shdr *header)
{
	if (header->sh_flags & SHF_COMPRESSED && elf_compress(section, 0, 0) < 0)
		return NULL;
	Elf_Data *data = elf_getdata(section, NULL);
	return data != NULL && data->d_buf != NULL ? g_bytes_new(data->d_buf, data->d_size)
	                                           : NULL;
}

GBytes *debuginfo_section(const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GBytes *found = NULL;
	while (elf != NULL && found == NULL && (section = elf_nextscn(elf, section)) != NULL)
		if (gelf_getshdr(section, &header) != NULL && is_named(elf, &header, name))
			found = section_bytes(section, &header);
	elf_end(elf);
	close(fd);
	return found;
}
