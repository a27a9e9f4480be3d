// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Data come first, as gnuplot's named blocks; then a loop over the two kinds of file. A histogram
 * has a bar for each power of two; a latency curve has a point for each percent; points of offsets
 * are put on a grid, and each cell in which there are any is one point. So a picture of any run is
 * about as large as that of any other.
 */
#include "plot.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run/mbr.h"
#include "run/size.h"

#define PLOT_GROUPS_MAX  16 /* panels of a picture */
#define PLOT_TITLE_BYTES 192
#define PLOT_SECONDS     10000000000ull /* nanoseconds from which on an axis is in seconds */

/* Rows of the latency table that differ in their boot only, in one panel. */
struct plot_group {
    size_t first;
    size_t count;
};

struct plot {
    const struct view_case *view;
    const struct latency *latency;
    FILE *stream;
};

typedef bool plot_rule_t(const struct latency_row *row);

/* Okabe's and Ito's colours; a policy has the same in all pictures. */
static const char *const plot_colours[] = {"#0072B2", "#E69F00", "#009E73",
                                           "#CC79A7", "#D55E00", "#56B4E9"};
#define PLOT_COLOURS (sizeof(plot_colours) / sizeof(plot_colours[0]))

static const char *plot_colour(size_t number)
{
    return plot_colours[number % PLOT_COLOURS];
}

/* A text of gnuplot's. => what is no letter, digit, or harmless sign is left out. */
static void plot_text(const struct plot *plot, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text >= ' ' && *text <= '~' && strchr("'\"\\`", *text) == NULL)
            fputc(*text, plot->stream);
    }
}

/* --- Groups ---------------------------------------------------------------------------------- */

static bool plot_has_sizes(const struct latency_row *row)
{
    return row->sizes.bytes != 0 && !row->waits &&
           (row->kind != EVENT_OP || strcmp(row->what, "sync") != 0);
}

static bool plot_has_times(const struct latency_row *row)
{
    return row->kind != EVENT_MEMORY && row->count > 1;
}

/* The groups of the rows that RULE picks. Returns how many. */
static size_t plot_groups_find(const struct plot *plot, plot_rule_t *rule,
                               struct plot_group groups[PLOT_GROUPS_MAX])
{
    const struct latency_row *rows = plot->latency->rows;
    size_t count = 0;

    for (size_t i = 0; i < plot->latency->count; i++) {
        if (!rule(&rows[i]))
            continue;
        if (count != 0 && latency_is_same_group(&rows[groups[count - 1].first], &rows[i])) {
            groups[count - 1].count++;
            continue;
        }
        if (count == PLOT_GROUPS_MAX)
            break;
        groups[count++] = (struct plot_group){i, 1};
    }
    return count;
}

static void plot_group_title(const struct plot *plot, const struct plot_group *group)
{
    const struct latency_row *row = &plot->latency->rows[group->first];

    /* An RPC is called by its routine. */
    fprintf(plot->stream, "set title \"%s%s",
            row->kind == EVENT_IO ? "" : event_kind_name(row->kind),
            row->kind == EVENT_IO || row->what[0] == '\0' ? "" : " ");
    plot_text(plot, row->what);
    fputs(row->waits ? " wait, " : ", ", plot->stream);
    plot_text(plot, row->srv[0] == '\0' ? "by the kernel itself" : row->srv);
    fputs("\"\n", plot->stream);
}

static const char *plot_policy(const struct plot *plot, size_t boot)
{
    return plot->view->records[boot].policy->choice.name;
}

/* The row of the group that is of BOOT, or NULL. */
static const struct latency_row *plot_row(const struct plot *plot, const struct plot_group *group,
                                          size_t boot)
{
    for (size_t i = group->first; i < group->first + group->count; i++) {
        if (plot->latency->rows[i].boot == boot)
            return &plot->latency->rows[i];
    }
    return NULL;
}

/* --- Pictures -------------------------------------------------------------------------------- */

/* A picture's title. A key in each panel would say the same where there is only one policy. */
static void plot_title(const struct plot *plot, const char *what, char title[PLOT_TITLE_BYTES])
{
    bool one = plot->view->count == 1;

    snprintf(title, PLOT_TITLE_BYTES, "%.64s%s%s: %s", plot->view->name, one ? ", policy " : "",
             one ? plot_policy(plot, 0) : "", what);
}

static const char *plot_key(const struct plot *plot)
{
    return plot->view->count == 1 ? "unset key" : "set key above horizontal";
}

/* Begins a picture, in both forms, with so many panels; plot_picture_end ends it. */
static void plot_picture_begin(const struct plot *plot, const char *name, unsigned width,
                               unsigned height, size_t panels, const char *title)
{
    size_t columns = panels > 6 ? 4 : panels > 3 ? 3 : 1;

    fprintf(plot->stream,
            "do for [form in \"png svg\"] {\n"
            "if (form eq \"png\") { set terminal pngcairo noenhanced size %u,%u font \"Sans,10\" "
            "background \"white\" } else { set terminal svg noenhanced size %u,%u font \"Sans,10\" "
            "background \"white\" }\n"
            "set output \"%s.\".form\n",
            width, height, width, height, name);
    fprintf(plot->stream, "set multiplot layout %zu,%zu title \"", (panels + columns - 1) / columns,
            columns);
    plot_text(plot, title);
    /* An empty line keeps the title away from the topmost panels' keys. */
    fputs("\\n \"\n", plot->stream);
}

static void plot_picture_end(const struct plot *plot)
{
    fputs("unset multiplot\nset output\n}\nreset\n", plot->stream);
}

/* --- Sizes ----------------------------------------------------------------------------------- */

/* The classes, powers of two, that any row has. */
static void plot_sizes_range(const struct plot *plot, unsigned *low, unsigned *high)
{
    *low = LAYER_CLASSES;
    *high = 0;
    for (size_t i = 0; i < plot->latency->count; i++) {
        const struct latency_row *row = &plot->latency->rows[i];

        for (unsigned class = 0; plot_has_sizes(row) && class < LAYER_CLASSES; class ++) {
            if (row->sizes.hist[class] == 0)
                continue;
            *low = class < *low ? class : *low;
            *high = class > *high ? class : *high;
        }
    }
}

static void plot_sizes_data(const struct plot *plot, const struct plot_group *group, size_t number)
{
    unsigned low;
    unsigned high;

    plot_sizes_range(plot, &low, &high);
    fprintf(plot->stream, "$sizes%zu << END\n", number);
    for (unsigned class = low; class <= high; class ++) {
        uint64_t floor = layer_class_floor(class);
        bool kilo = floor >= 1024 && floor < 1024 * 1024;

        fprintf(plot->stream, "\"%" PRIu64 "%s\"",
                floor >> (kilo           ? 10
                          : floor < 1024 ? 0
                                         : 20),
                kilo           ? "K"
                : floor < 1024 ? ""
                               : "M");
        for (size_t boot = 0; boot < plot->view->count; boot++) {
            const struct latency_row *row = plot_row(plot, group, boot);

            fprintf(plot->stream, " %" PRIu64, row == NULL ? 0 : row->sizes.hist[class]);
        }
        fputc('\n', plot->stream);
    }
    fputs("END\n", plot->stream);
}

static void plot_sizes_panel(const struct plot *plot, const struct plot_group *group, size_t number)
{
    plot_group_title(plot, group);
    fputs("plot ", plot->stream);
    for (size_t boot = 0; boot < plot->view->count; boot++)
        fprintf(plot->stream, "%s$sizes%zu using %zu:xtic(1) title \"%s\" linecolor rgb \"%s\"",
                boot == 0 ? "" : ", ", number, boot + 2, plot_policy(plot, boot),
                plot_colour(boot));
    fputc('\n', plot->stream);
}

static void plot_sizes(const struct plot *plot)
{
    struct plot_group groups[PLOT_GROUPS_MAX];
    size_t count = plot_groups_find(plot, plot_has_sizes, groups);
    char title[PLOT_TITLE_BYTES];

    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        plot_sizes_data(plot, &groups[i], i);
    plot_title(plot,
               "how many requests had which size; a bar counts from its size to below the next",
               title);
    plot_picture_begin(plot, "sizes", 1400, 1000, count, title);
    fputs("set style data histograms\nset style histogram clustered gap 1\n"
          "set style fill solid border -1\nset logscale y\nset yrange [0.8:*]\n"
          "set format y \"%.0f\"\nset grid ytics\nset xtics rotate by -45\n"
          "set xlabel \"bytes of a request\"\nset ylabel \"requests\"\nset rmargin 3\n",
          plot->stream);
    fprintf(plot->stream, "%s\n", plot_key(plot));
    for (size_t i = 0; i < count; i++)
        plot_sizes_panel(plot, &groups[i], i);
    plot_picture_end(plot);
}

/* --- Latency --------------------------------------------------------------------------------- */

static void plot_latency_data(const struct plot *plot, const struct plot_group *group,
                              size_t number)
{
    for (size_t i = group->first; i < group->first + group->count; i++) {
        const struct latency_row *row = &plot->latency->rows[i];

        fprintf(plot->stream, "$latency%zu_%zu << END\n", number, row->boot);
        for (unsigned percent = 1; percent <= PLOT_PERCENTS; percent++)
            fprintf(plot->stream, "%.3f %u\n", (double)latency_percentile(row, percent) / 1000,
                    percent);
        fputs("END\n", plot->stream);
    }
}

static void plot_latency_panel(const struct plot *plot, const struct plot_group *group,
                               size_t number)
{
    const char *separator = "";

    plot_group_title(plot, group);
    fputs("plot ", plot->stream);
    for (size_t i = group->first; i < group->first + group->count; i++) {
        size_t boot = plot->latency->rows[i].boot;

        fprintf(plot->stream,
                "%s$latency%zu_%zu using 1:2 with lines linewidth 2 linecolor rgb \"%s\" title "
                "\"%s\"",
                separator, number, boot, plot_colour(boot), plot_policy(plot, boot));
        separator = ", ";
    }
    fputc('\n', plot->stream);
}

static void plot_latency(const struct plot *plot)
{
    struct plot_group groups[PLOT_GROUPS_MAX];
    size_t count = plot_groups_find(plot, plot_has_times, groups);
    char title[PLOT_TITLE_BYTES];

    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        plot_latency_data(plot, &groups[i], i);
    plot_title(plot, "share of the requests that took at most so long", title);
    plot_picture_begin(plot, "latency", 1400, 1200, count, title);
    fputs("set logscale x\nset yrange [0:100]\nset grid\n"
          "set xtics rotate by -45 (\"100 ns\" 1e-1, \"1 us\" 1, \"10 us\" 1e1, \"100 us\" 1e2, "
          "\"1 ms\" 1e3, \"10 ms\" 1e4, \"100 ms\" 1e5, \"1 s\" 1e6, \"10 s\" 1e7, \"100 s\" 1e8)\n"
          "set xlabel \"time\"\nset ylabel \"% of the requests\"\nset rmargin 5\n",
          plot->stream);
    fprintf(plot->stream, "%s\n", plot_key(plot));
    for (size_t i = 0; i < count; i++)
        plot_latency_panel(plot, &groups[i], i);
    plot_picture_end(plot);
}

/* --- Offset over time ------------------------------------------------------------------------ */

struct plot_panel {
    const char *title;
    enum event_kind kinds[3];
    size_t kinds_count;
};

static const struct plot_panel plot_panels[] = {
    {"in the object", {EVENT_DATA_REQUEST, EVENT_IO, EVENT_DATA_RETURN}, 3},
    {"on the device of the store", {EVENT_STORE_WRITE, EVENT_STORE_READ}, 2},
    {"on the disk", {EVENT_DISK_WRITE, EVENT_DISK_READ}, 2},
};
#define PLOT_PANELS (sizeof(plot_panels) / sizeof(plot_panels[0]))

/* Between what times and places a panel's events are. */
struct plot_range {
    uint64_t start;
    uint64_t end;
    uint64_t low;
    uint64_t high;
};

/* The place of an event in bytes. => false: it has none, or no time, or is the kernel's own. */
static bool plot_place(const struct event *event, uint64_t *place)
{
    *place = (event->keys & EVENT_HAS_SEC) != 0 ? event->sec * MBR_SECTOR_BYTES : event->off;
    return event->len != 0 && (event->keys & EVENT_HAS_T) != 0 &&
           (event->keys & EVENT_HAS_SRV) != 0;
}

static bool plot_panel_has(const struct plot_panel *panel, enum event_kind kind)
{
    for (size_t i = 0; i < panel->kinds_count; i++) {
        if (panel->kinds[i] == kind)
            return true;
    }
    return false;
}

/* => false: the panel has no event. */
static bool plot_range_find(const struct record *record, const struct plot_panel *panel,
                            struct plot_range *range)
{
    *range = (struct plot_range){.low = UINT64_MAX};
    for (size_t i = 0; i < record->count; i++) {
        const struct event *event = &record->events[i];
        uint64_t place;

        if ((event->keys & EVENT_HAS_T) != 0) {
            range->start = range->end == 0 ? event->t : range->start;
            range->end = event_end(event) > range->end ? event_end(event) : range->end;
        }
        if (!plot_place(event, &place) || !plot_panel_has(panel, event->kind))
            continue;
        range->low = place < range->low ? place : range->low;
        range->high = place > range->high ? place : range->high;
    }
    return range->low != UINT64_MAX;
}

/* Which of COUNT equal parts of LOW to HIGH the value is in. */
static unsigned plot_cell(uint64_t value, uint64_t low, uint64_t high, unsigned count)
{
    double part = (double)(value - low) / ((double)(high - low) + 1);

    return (unsigned)(part * count);
}

/* In how many nanoseconds times are given. */
static double plot_time_unit(const struct plot_range *range)
{
    return range->end - range->start < PLOT_SECONDS ? 1e6 : 1e9;
}

static void plot_cells_print(const struct plot *plot, const struct plot_range *range,
                             const uint32_t *cells)
{
    double width = (double)(range->end - range->start) / PLOT_COLUMNS;
    double height = (double)(range->high - range->low) / PLOT_ROWS;

    for (unsigned i = 0; i < PLOT_COLUMNS * PLOT_ROWS; i++) {
        double column = i % PLOT_COLUMNS + 0.5;
        double row = (double)(i / PLOT_COLUMNS) + 0.5;

        if (cells[i] != 0)
            fprintf(plot->stream, "%.6g %.6g %" PRIu32 "\n", column * width / plot_time_unit(range),
                    ((double)range->low + row * height) / (1 << 20), cells[i]);
    }
}

/* How many events of KIND began in each cell. */
static void plot_offset_data(const struct plot *plot, const struct record *record,
                             const struct plot_range *range, enum event_kind kind)
{
    uint32_t *cells = calloc((size_t)PLOT_COLUMNS * PLOT_ROWS, sizeof(*cells));

    if (cells == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    for (size_t i = 0; i < record->count; i++) {
        const struct event *event = &record->events[i];
        uint64_t place;

        if (event->kind != kind || !plot_place(event, &place))
            continue;
        cells[plot_cell(place, range->low, range->high, PLOT_ROWS) * PLOT_COLUMNS +
              plot_cell(event->t, range->start, range->end, PLOT_COLUMNS)]++;
    }
    fprintf(plot->stream, "$%s_%s << END\n", event_kind_name(kind), record->policy->choice.name);
    plot_cells_print(plot, range, cells);
    fputs("END\n", plot->stream);
    free(cells);
}

/* Whether a kind has an event that can be drawn: gnuplot minds blocks without a point. */
static bool plot_offset_has(const struct record *record, enum event_kind kind)
{
    uint64_t place;

    for (size_t i = 0; i < record->count; i++) {
        if (record->events[i].kind == kind && plot_place(&record->events[i], &place))
            return true;
    }
    return false;
}

static void plot_offset_panel(const struct plot *plot, const struct record *record,
                              const struct plot_panel *panel)
{
    const char *separator = "";

    fprintf(plot->stream, "set title \"%s\"\nplot ", panel->title);
    for (size_t i = 0; i < panel->kinds_count; i++) {
        const char *kind = event_kind_name(panel->kinds[i]);

        if (!plot_offset_has(record, panel->kinds[i]))
            continue;
        fprintf(
            plot->stream,
            "%s$%s_%s using 1:2 with points pointtype %d pointsize 0.7 linecolor rgb \"%s\" title "
            "\"%s\"",
            separator, kind, record->policy->choice.name,
            i == 0   ? 7
            : i == 1 ? 8
                     : 4,
            plot_colour(i), kind);
        separator = ", ";
    }
    fputc('\n', plot->stream);
}

static void plot_offset_axis(const struct plot *plot, const struct plot_range *range)
{
    double unit = plot_time_unit(range);

    fprintf(plot->stream, "set xlabel \"%s\"\nset xrange [0:%.6g]\n",
            unit == 1e6 ? "milliseconds" : "seconds", (double)(range->end - range->start) / unit);
}

/* The data of the panels that have any. Returns how many those are. */
static size_t plot_offset_panels(const struct plot *plot, const struct record *record,
                                 struct plot_range ranges[PLOT_PANELS], bool drawn[PLOT_PANELS])
{
    size_t panels = 0;

    for (size_t i = 0; i < PLOT_PANELS; i++) {
        drawn[i] = plot_range_find(record, &plot_panels[i], &ranges[i]);
        panels += drawn[i];
        for (size_t j = 0; drawn[i] && j < plot_panels[i].kinds_count; j++) {
            if (plot_offset_has(record, plot_panels[i].kinds[j]))
                plot_offset_data(plot, record, &ranges[i], plot_panels[i].kinds[j]);
        }
    }
    return panels;
}

static void plot_offset(const struct plot *plot, const struct record *record)
{
    const char *policy = record->policy->choice.name;
    struct plot_range ranges[PLOT_PANELS];
    bool drawn[PLOT_PANELS];
    size_t panels = plot_offset_panels(plot, record, ranges, drawn);
    char name[64];
    char title[160];

    if (panels == 0)
        return;
    snprintf(name, sizeof(name), "offset-%s", policy);
    snprintf(title, sizeof(title), "%.64s, policy %s: where requests began", plot->view->name,
             policy);
    plot_picture_begin(plot, name, 1000, 1100, panels, title);
    fputs("set grid\nset ylabel \"MiB\"\nset key outside right\n"
          "set rmargin 22\nset lmargin 10\n",
          plot->stream);
    for (size_t i = 0; i < PLOT_PANELS; i++) {
        if (!drawn[i])
            continue;
        plot_offset_axis(plot, &ranges[i]);
        plot_offset_panel(plot, record, &plot_panels[i]);
    }
    plot_picture_end(plot);
}

void plot_script_print(const struct view_case *view, const struct latency *latency, FILE *stream)
{
    const struct plot plot = {view, latency, stream};

    fputs("# Made by `make trace VIEW=plot`: gnuplot plots.gnuplot\n", stream);
    plot_sizes(&plot);
    plot_latency(&plot);
    for (size_t i = 0; i < view->count; i++)
        plot_offset(&plot, &view->records[i]);
}
